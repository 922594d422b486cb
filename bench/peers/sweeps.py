#!/usr/bin/env python3
"""Jacobi sweeps of a square grid whose rows devices share, by JAX's shard_map and ppermute: the peer of bench/poisson/sweeps_table.cpp.

usage: sweeps.py [--size 16384] [--devices 1 2] [--sweeps 100] [--rounds 5]

In float32 and under jit. Prints the median time of a sweep on each number of devices.
"""

import argparse
import statistics
import time
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

shard_map = getattr(jax, "shard_map", None)
if shard_map is None:
    from jax.experimental.shard_map import shard_map


def sweeps_of(mesh, devices, sweeps):
    north, south = ([(r, r + step) for r in range(devices) if 0 <= r + step < devices] for step in (1, -1))

    @jax.jit
    @partial(shard_map, mesh=mesh, in_specs=(P("i"), P("i")), out_specs=P("i"))
    def run(u, b):
        def sweep(_, u):
            # A rank without a neighbour gets zeros, which is the ring.
            below = lax.ppermute(u[-1:], "i", north)
            above = lax.ppermute(u[:1], "i", south)
            h = jnp.pad(jnp.concatenate([below, u, above]), ((0, 0), (1, 1)))
            return 0.25 * (h[:-2, 1:-1] + h[2:, 1:-1] + h[1:-1, :-2] + h[1:-1, 2:] - b)

        return lax.fori_loop(0, sweeps, sweep, u)

    return run


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("size", 16384), ("sweeps", 100), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--devices", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    for devices in options.devices:
        mesh = Mesh(jax.devices()[:devices], ("i",))
        by_rows = NamedSharding(mesh, P("i"))
        shape = (options.size, options.size)
        u, b = (jnp.full(shape, value, jnp.float32, device=by_rows) for value in (0.0, 0.25))
        run = sweeps_of(mesh, devices, options.sweeps)
        u = jax.block_until_ready(run(u, b))  # compiles
        seconds = []
        for _ in range(options.rounds):
            start = time.perf_counter()
            u = jax.block_until_ready(run(u, b))
            seconds.append((time.perf_counter() - start) / options.sweeps)
        print(f"JAX {jax.__version__}, {options.size}^2 on {devices}: {1e3 * statistics.median(seconds):.3f} ms a sweep", flush=True)


if __name__ == "__main__":
    main()
