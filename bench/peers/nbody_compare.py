#!/usr/bin/env python3
"""Runs our benchmark of simulations, pmwd and JaxPM in turns, and prints a table of ratios.

    python3 nbody_compare.py --bench build/openmp/bench/nbody/nbody_step_bench --python venv/bin/python

Peers are left out where they are missing. See turns.py.
"""

import statistics
import sys

from turns import HERE, Failed, in_turns, main_of, parser_of, print_table, run, run_bench, run_json, write_json


def ours(options, side):
    """Seconds of a step and of the start, and how many times as long as four transforms a step is."""
    names = f"^(fastpm/{side}/{options.ratio}|2lpt/{side}/1)/"
    times = {}
    for entry in run_bench(options.bench, names, 2)[0]:
        times["start" if entry["name"].startswith("2lpt/") else "step"] = entry["seconds"]
        if "step/4_ffts" in entry:  # not without FFTW's threads
            times["step/4_ffts"] = entry["step/4_ffts"]
    if "step" not in times:
        raise Failed(f"{options.bench} has no fastpm/{side}/{options.ratio}")
    return times


def theirs(options, peer, side):
    chunk = ["--chunk", options.chunk] if options.chunk is not None and peer == "pmwd" else []
    script = HERE / f"{peer}_steps.py"
    report = run_json(options.python, script, "--side", side, "--ratio", options.ratio, *chunk)
    return {"step": report["seconds_per_step"], "start": report["start_seconds"]}


def installed(options):
    """The peers that run in that Python; says in a line which don't."""
    peers = []
    for peer in options.peers:
        try:
            run(options.python, HERE / f"{peer}_steps.py", "--help")
            peers.append(peer)
        except Failed as error:
            print(error, file=sys.stderr)
    return peers or sys.exit("there is no peer to compare with")


def parse_arguments():
    parser = parser_of(__doc__)
    parser.add_argument("--bench", required=True, help="the executable nbody_step_bench")
    parser.add_argument("--peers", nargs="+", default=["pmwd", "jaxpm"], choices=["pmwd", "jaxpm"])
    parser.add_argument("--sides", type=int, nargs="+", default=[64, 128], help="particles along a side")
    parser.add_argument("--ratio", type=int, default=1, help="cells per particle along a side")
    parser.add_argument("--chunk", type=int, help="pmwd's particles at a time")
    return parser.parse_args()


def main():
    options = parse_arguments()
    peers = installed(options)
    results, rows = [], []
    for side in options.sides:
        times = {name: [] for name in ["ours", *peers]}
        for _, name in in_turns(options.rounds, list(times), f" of side {side}"):
            times[name].append(ours(options, side) if name == "ours" else theirs(options, name, side))
        results.append({"side": side, "ratio": options.ratio, **times})

        def median(name, what):
            numbers = [one[what] for one in times[name] if what in one]
            return statistics.median(numbers) if numbers else None

        for what in ("step", "start"):
            own = median("ours", what)
            if own is None:
                continue
            cells = [side, options.ratio, what, f"{1e9 * own / side**3:.1f}"]
            for peer in peers:
                their = median(peer, what)
                cells += [f"{1e9 * their / side**3:.1f}", f"{their / own:.1f}"]
            transforms = median("ours", "step/4_ffts") if what == "step" else None
            rows.append([*cells, "" if transforms is None else f"{transforms:.2f}"])
    columns = ["side", "ratio", "what", "ours, ns/particle"]
    for peer in peers:
        columns += [f"{peer}, ns/particle", f"{peer} / ours"]
    print_table([*columns, "ours / 4 FFTs"], rows)
    write_json(options.json, results)


main_of(main)
