#!/usr/bin/env python3
"""Steps of shallow water as the demo of mpi4jax makes them (examples/shallow_water.py), on one process by JAX: the peer of
bench/shallow/model_bench.cpp.

usage: shallow.py [--columns 3600] [--rows 1800] [--steps 10] [--rounds 5]

The demo's arithmetic, in float32 and under jit: an edge of one cell around each field, periodic along x, walls along y. Exchanges between
processes are left out. Prints the median time of a step and cells per second.
"""

import argparse
import statistics
import time

import jax
import jax.numpy as jnp

GRAVITY, DEPTH, F0, BETA, DX, DY = 9.81, 100.0, 2e-4, 2e-11, 5e3, 5e3
VISCOSITY = 1e-3 * F0 * DX**2
DT = 0.125 * min(DX, DY) / (GRAVITY * DEPTH) ** 0.5
NOW, BEFORE = 1.6, -0.6
IN = (slice(1, -1), slice(1, -1))
EAST, WEST = (slice(1, -1), slice(2, None)), (slice(1, -1), slice(None, -2))
NORTH, SOUTH = (slice(2, None), slice(1, -1)), (slice(None, -2), slice(1, -1))
NORTH_EAST = (slice(2, None), slice(2, None))


def bounded(field, kind):
    """The edge of a field: periodic along x; v is 0 on the northern wall."""
    field = field.at[:, 0].set(field[:, -2]).at[:, -1].set(field[:, 1])
    return field.at[-2, :].set(0.0) if kind == "v" else field


def inside(values, kind):
    return bounded(jnp.pad(values, 1), kind)


def step(state, coriolis):
    h, u, v, dh, du, dv = state
    depth = bounded(jnp.pad(h[IN], 1, "edge"), "h")
    fe = inside(0.5 * (depth[IN] + depth[EAST]) * u[IN], "u")
    fn = inside(0.5 * (depth[IN] + depth[NORTH]) * v[IN], "v")
    dh_new = -(fe[IN] - fe[WEST]) / DX - (fn[IN] - fn[SOUTH]) / DY
    q = coriolis[1:-1, None] + ((v[EAST] - v[IN]) / DX - (u[NORTH] - u[IN]) / DY)
    q = inside(q / (0.25 * (depth[IN] + depth[EAST] + depth[NORTH] + depth[NORTH_EAST])), "h")
    energy = inside(0.25 * (u[IN] ** 2 + u[WEST] ** 2 + v[IN] ** 2 + v[SOUTH] ** 2), "h")
    fn_east = 0.5 * (fn[:, 1:-1] + fn[:, 2:])
    fe_north = 0.5 * (fe[1:-1, :] + fe[2:, :])
    du_new = (-GRAVITY * (h[EAST] - h[IN]) / DX - (energy[EAST] - energy[IN]) / DX
              + 0.5 * (q[IN] * fn_east[1:-1] + q[SOUTH] * fn_east[:-2]))
    dv_new = (-GRAVITY * (h[NORTH] - h[IN]) / DY - (energy[NORTH] - energy[IN]) / DY
              - 0.5 * (q[IN] * fe_north[:, 1:-1] + q[WEST] * fe_north[:, :-2]))
    h = bounded(h.at[IN].add(DT * (NOW * dh_new + BEFORE * dh)), "h")
    u = bounded(u.at[IN].add(DT * (NOW * du_new + BEFORE * du)), "u")
    v = bounded(v.at[IN].add(DT * (NOW * dv_new + BEFORE * dv)), "v")

    def friction(field):
        east = inside(VISCOSITY * (field[EAST] - field[IN]) / DX, "u")
        north = inside(VISCOSITY * (field[NORTH] - field[IN]) / DY, "v")
        return bounded(field.at[IN].add(DT * ((east[IN] - east[WEST]) / DX + (north[IN] - north[SOUTH]) / DY)), "u")

    return h, friction(u), friction(v), dh_new, du_new, dv_new


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("columns", 3600), ("rows", 1800), ("steps", 10), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    shape = (options.rows + 2, options.columns + 2)
    y = jnp.arange(-1, options.rows + 1) * DY
    coriolis = F0 + BETA * y
    from_middle = y / (DY * options.rows) - 0.5
    u = jnp.broadcast_to((10 / (1 + 100 * from_middle**2))[:, None], shape)
    h = DEPTH + 0.01 * ((7 * jnp.arange(shape[1])[None] + 13 * jnp.arange(shape[0])[:, None]) % 20)
    zeros = jnp.zeros((options.rows, options.columns))
    state = (bounded(h.astype(jnp.float32), "h"), bounded(u.astype(jnp.float32), "u"), jnp.zeros(shape), zeros, zeros, zeros)
    steps = jax.jit(lambda state: jax.lax.fori_loop(0, options.steps, lambda _, s: step(s, coriolis), state))
    state = jax.block_until_ready(steps(state))  # compiles
    seconds = []
    for _ in range(options.rounds):
        start = time.perf_counter()
        state = jax.block_until_ready(steps(state))
        seconds.append((time.perf_counter() - start) / options.steps)
    median = statistics.median(seconds)
    assert bool(jnp.isfinite(state[0]).all())
    print(f"JAX {jax.__version__}: {1e3 * median:.2f} ms a step, {options.rows * options.columns / median / 1e6:.1f} Mcell/s")


if __name__ == "__main__":
    main()
