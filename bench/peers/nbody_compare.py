#!/usr/bin/env python3
"""Runs our benchmark of simulations and pmwd in turns, and prints a table of ratios.

    python3 nbody_compare.py --bench build/openmp/bench/nbody/nbody_step_bench --python venv/bin/python

Each round runs both once, in an order that turns from round to round, and medians over the rounds count.
This script needs the standard library alone; pmwd runs in the Python named by --python.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

from compare import HERE, last_line, run


def run_json(command):
    done = run([str(part) for part in command])
    if done.returncode != 0:
        sys.exit(last_line(done.stderr))
    if "{" not in done.stdout:
        sys.exit(f"{command[0]}: {last_line(done.stdout + done.stderr)}")
    return json.loads(done.stdout[done.stdout.index("{") :])


def ours(options, side):
    """{what: seconds of a step or of the start} and how many times as long as four transforms a step is."""
    report = run_json(
        [
            options.bench,
            f"--benchmark_filter=^(fastpm/{side}/{options.ratio}|2lpt/{side}/1)/",
            "--benchmark_min_time=2",
            "--benchmark_format=json",
        ]
    )
    seconds, to_transforms = {}, None
    for entry in report["benchmarks"]:
        if entry["name"].startswith("2lpt/"):
            seconds["start"] = entry["seconds"]
        else:
            seconds["step"] = entry["seconds"]
            to_transforms = entry["step/4_ffts"]
    if "step" not in seconds:
        sys.exit(f"{options.bench} has no fastpm/{side}/{options.ratio}")
    return seconds, to_transforms


def pmwd(options, side):
    chunk = [] if options.chunk is None else ["--chunk", options.chunk]
    script = HERE / "pmwd_steps.py"
    report = run_json([options.python, script, "--side", side, "--ratio", options.ratio, *chunk])
    return {"step": report["seconds_per_step"], "start": report["start_seconds"]}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True, help="the executable nbody_step_bench")
    parser.add_argument("--python", default=sys.executable, help="a Python that has pmwd")
    parser.add_argument("--sides", type=int, nargs="+", default=[64, 128], help="particles along a side")
    parser.add_argument("--ratio", type=int, default=1, help="cells per particle along a side")
    parser.add_argument("--chunk", type=int, help="pmwd's particles at a time")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", help="write all times to this file")
    return parser.parse_args()


def nanoseconds(times, side):
    return 1e9 * statistics.median(times) / side**3


def main():
    options = parse_arguments()
    results = []
    for side in options.sides:
        for number in range(options.rounds):
            for turn in range(2):
                if (number + turn) % 2 == 0:
                    our_seconds, to_transforms = ours(options, side)
                else:
                    their_seconds = pmwd(options, side)
            results.append(
                {
                    "side": side,
                    "ratio": options.ratio,
                    "ours": our_seconds,
                    "step/4_ffts": to_transforms,
                    "pmwd": their_seconds,
                }
            )
            print(f"round {number + 1} of side {side}", file=sys.stderr, flush=True)

    print("| side | ratio | what | ours, ns/particle | pmwd, ns/particle | pmwd / ours | ours / 4 FFTs |")
    print("| --- " * 7 + "|")
    for side in options.sides:
        rounds = [r for r in results if r["side"] == side]
        for what in ("step", "start"):
            if any(what not in r["ours"] for r in rounds):
                continue
            own = nanoseconds([r["ours"][what] for r in rounds], side)
            their = nanoseconds([r["pmwd"][what] for r in rounds], side)
            transforms = statistics.median(r["step/4_ffts"] for r in rounds)
            last = f"{transforms:.2f}" if what == "step" else ""
            cells = [side, options.ratio, what, f"{own:.1f}", f"{their:.1f}", f"{their / own:.1f}", last]
            print(f"| {' | '.join(map(str, cells))} |")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
