#!/usr/bin/env python3
"""Runs our benchmark of simulations, pmwd and JaxPM in turns, and prints a table of ratios.

    python3 nbody_compare.py --bench build/openmp/bench/nbody/nbody_step_bench --python venv/bin/python

Each round runs each once, in an order that turns from round to round, and medians over the rounds count.
This script needs the standard library alone; peers run in the Python named by --python, and are left out
where they are missing there.
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
            to_transforms = entry.get("step/4_ffts")  # not without FFTW's threads
    if "step" not in seconds:
        sys.exit(f"{options.bench} has no fastpm/{side}/{options.ratio}")
    return seconds, to_transforms


def theirs(options, peer, side):
    chunk = ["--chunk", options.chunk] if options.chunk is not None and peer == "pmwd" else []
    script = HERE / f"{peer}_steps.py"
    report = run_json([options.python, script, "--side", side, "--ratio", options.ratio, *chunk])
    return {"step": report["seconds_per_step"], "start": report["start_seconds"]}


def installed(options):
    """The peers that run in that Python; says in a line which don't."""
    peers = []
    for peer in options.peers:
        done = run([options.python, str(HERE / f"{peer}_steps.py"), "--help"])
        if done.returncode == 0:
            peers.append(peer)
        else:
            print(last_line(done.stderr), file=sys.stderr)
    return peers or sys.exit("there is no peer to compare with")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True, help="the executable nbody_step_bench")
    parser.add_argument("--python", default=sys.executable, help="a Python that has the peers")
    parser.add_argument("--peers", nargs="+", default=["pmwd", "jaxpm"], choices=["pmwd", "jaxpm"])
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
    peers = installed(options)
    results = []
    for side in options.sides:
        for number in range(options.rounds):
            result = {"side": side, "ratio": options.ratio}
            for turn in range(len(peers) + 1):
                who = (["ours"] + peers)[(number + turn) % (len(peers) + 1)]
                if who == "ours":
                    result["ours"], result["step/4_ffts"] = ours(options, side)
                else:
                    result[who] = theirs(options, who, side)
            results.append(result)
            print(f"round {number + 1} of side {side}", file=sys.stderr, flush=True)

    columns = ["side", "ratio", "what", "ours, ns/particle"]
    for peer in peers:
        columns += [f"{peer}, ns/particle", f"{peer} / ours"]
    columns.append("ours / 4 FFTs")
    print(f"| {' | '.join(columns)} |")
    print("| --- " * len(columns) + "|")
    for side in options.sides:
        rounds = [r for r in results if r["side"] == side]
        for what in ("step", "start"):
            if any(what not in r["ours"] for r in rounds):
                continue
            own = nanoseconds([r["ours"][what] for r in rounds], side)
            cells = [side, options.ratio, what, f"{own:.1f}"]
            for peer in peers:
                their = nanoseconds([r[peer][what] for r in rounds], side)
                cells += [f"{their:.1f}", f"{their / own:.1f}"]
            transforms = [r["step/4_ffts"] for r in rounds]
            known = what == "step" and None not in transforms
            cells.append(f"{statistics.median(transforms):.2f}" if known else "")
            print(f"| {' | '.join(map(str, cells))} |")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
