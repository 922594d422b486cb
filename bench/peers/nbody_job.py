"""What pmwd_steps.py and jaxpm_steps.py share: their options, timing and report.

The report is one JSON object: the median seconds of a run of all steps over their number, after compilation,
nanoseconds per particle and step, and the seconds that the start takes, with its white noise.
"""

import argparse
import json
import os
import statistics
import sys
import time

import job

A_START = 0.1


def parse_arguments(description):
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--side", type=int, default=128, help="particles along a side")
    parser.add_argument("--ratio", type=int, default=1, help="cells per particle along a side")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3, help="of all steps, after one that compiles")
    parser.add_argument("--chunk", type=int, help="pmwd's particles at a time: fewer take less memory")
    return parser.parse_args()


def seconds_of(work):
    import jax

    start = time.perf_counter()
    jax.block_until_ready(work())
    return time.perf_counter() - start


def measure(options, application, version, start, steps):
    """Times both, each once before to compile, and prints the report."""
    import jax

    seconds_of(start)
    start_seconds = [seconds_of(start) for _ in range(options.runs)]
    seconds_of(steps)
    step_seconds = [seconds_of(steps) / options.steps for _ in range(options.runs)]

    device = jax.devices()[0]
    on_cpu = device.platform == "cpu"
    seconds = statistics.median(step_seconds)
    report = {
        "application": application,
        "version": version,
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
