#!/usr/bin/env python3
"""pmwd: the simulation of bench/nbody/step_bench.cpp, on whatever device JAX prefers.

side^3 particles 1 Mpc/h apart on a mesh of ratio^3 times as many cells, float32, started by second-order
Lagrangian perturbation theory at a = 0.1, in equal steps of a to 1. Prints one JSON object: the median
seconds of a run of all steps over their number, after compilation, nanoseconds per particle and step, and
the seconds that the start takes, with its white noise.
"""

import argparse
import json
import os
import statistics
import sys
import time

try:
    import jax
    import pmwd
except ImportError as error:
    sys.exit(f"pmwd_steps.py is skipped: {error} (see bench/peers/README.md)")

import job

A_START = 0.1


def seconds_of(work):
    start = time.perf_counter()
    jax.block_until_ready(work())
    return time.perf_counter() - start


def configuration(options):
    chunk = {} if options.chunk is None else {"chunk_size": options.chunk}
    conf = pmwd.Configuration(
        ptcl_spacing=1.0,
        ptcl_grid_shape=(options.side,) * 3,
        mesh_shape=options.ratio,
        a_start=A_START,
        a_stop=1,
        # Rounding must not make it one step more.
        a_nbody_maxstep=(1 - A_START) / options.steps * (1 + 1e-9),
        **chunk,
    )
    assert conf.a_nbody_num == options.steps
    return conf


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", type=int, default=128, help="particles along a side")
    parser.add_argument("--ratio", type=int, default=1, help="cells per particle along a side")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3, help="of all steps, after one that compiles")
    parser.add_argument("--chunk", type=int, help="particles at a time: fewer take less memory")
    return parser.parse_args()


def main():
    options = parse_arguments()
    conf = configuration(options)
    cosmo = pmwd.boltzmann(pmwd.SimpleLCDM(conf), conf)

    def start():
        modes = pmwd.linear_modes(pmwd.white_noise(1, conf), cosmo, conf)
        return pmwd.lpt(modes, cosmo, conf)

    particles, observable = start()
    start_seconds = [seconds_of(start) for _ in range(options.runs)]

    def steps():
        return pmwd.nbody(particles, observable, cosmo, conf)

    seconds_of(steps)
    step_seconds = [seconds_of(steps) / options.steps for _ in range(options.runs)]

    device = jax.devices()[0]
    on_cpu = device.platform == "cpu"
    seconds = statistics.median(step_seconds)
    report = {
        "application": "pmwd",
        "version": getattr(pmwd, "__version__", None),
        "jax_version": jax.__version__,
        "backend": device.platform,
        "device": job.cpu_name() if on_cpu else device.device_kind,
        "threads": len(os.sched_getaffinity(0)) if on_cpu else None,
        "side": options.side,
        "ratio": options.ratio,
        "steps": options.steps,
        "seconds_per_step": seconds,
        "ns_per_particle_step": 1e9 * seconds / options.side**3,
        "start_seconds": statistics.median(start_seconds),
        "all_seconds_per_step": step_seconds,
    }
    json.dump(report, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
