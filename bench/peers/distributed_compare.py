#!/usr/bin/env python3
"""Runs our transforms over ranks and those of jaxDecomp and JAX on the GPUs of one host in turns, and prints a table of ratios.

    python3 distributed_compare.py --build build/cuda-mpi --python venv/bin/python --devices 2 4 8 --sides 512 1024

Each round runs each once, in an order that turns from round to round, and medians over the rounds count. This script needs the
standard library alone; peers run in the Python named by --python. With --cores ranks, and JAX's devices, are made of cores.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

from compare import HERE, last_line, run

sys.path.insert(0, str(HERE.parent / "distributed"))
import scaling

WHATS = ("complex forward", "complex backward", "real forward", "real backward")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="our build, with MPI")
    parser.add_argument("--python", default=sys.executable, help="a Python that has JAX, and jaxDecomp")
    parser.add_argument("--devices", type=int, nargs="+", default=[2])
    parser.add_argument("--sides", type=int, nargs="+", default=[512, 1024], help="numbers along a side")
    parser.add_argument("--cores", action="store_true", help="compute on cores, of which each rank has an even share")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--launch", default="mpirun --oversubscribe --bind-to none -n {ranks}", help="what starts our ranks")
    parser.add_argument("--json", help="write all times to this file")
    return parser.parse_args()


def ours(options, side, devices, environment):
    """{what: seconds}"""
    arguments = ("--sizes", str(side), "--cases", "real,complex", "--json", *(["--host"] if options.cores else []))
    case = scaling.Case("transforms", devices, arguments, "")
    rows, problem, _ = scaling.run(scaling.command_of(case, options), environment, 600)
    if problem or not rows:
        sys.exit(f"slab_table: {problem or 'it printed nothing'}")
    for row in rows:
        if "skipped" in row:
            print(f"slab_table, {row['what']} of {side}^3: {row['skipped']}", file=sys.stderr)
    return {row["what"]: row["seconds"] for row in rows if "seconds" in row}


def theirs(options, side, devices):
    """{package: {what: seconds}}"""
    script = str(HERE / "distributed_transforms.py")
    cores = ["--cores"] if options.cores else []
    done = run([options.python, script, "--side", str(side), "--devices", str(devices), *cores])
    if done.returncode != 0:
        sys.exit(last_line(done.stderr))
    report = json.loads(last_line(done.stdout))
    for name, problem in report["problems"].items():
        print(f"{name} of {side}^3 on {devices}: {problem}", file=sys.stderr)
    return report["seconds"]


def print_table(results):
    peers = list(dict.fromkeys(peer for result in results for peer in result["theirs"]))
    heads = ["transform", "devices", "ours, ms"] + [word for peer in peers for word in (f"{peer}, ms", f"{peer} / ours")]
    print(f"| {' | '.join(heads)} |")
    print("| --- " * len(heads) + "|")
    for side, devices in dict.fromkeys((result["side"], result["devices"]) for result in results):
        rounds = [result for result in results if (result["side"], result["devices"]) == (side, devices)]
        for what in WHATS:
            if any(what not in result["ours"] for result in rounds):
                continue
            own = statistics.median(result["ours"][what] for result in rounds)
            cells = [f"{what}, {side}^3", str(devices), f"{1e3 * own:.3g}"]
            for peer in peers:
                times = [result["theirs"].get(peer, {}).get(what) for result in rounds]
                known = None not in times
                their = statistics.median(times) if known else None
                cells += [f"{1e3 * their:.3g}", f"{their / own:.2f}"] if known else ["", ""]
            print(f"| {' | '.join(cells)} |")


def main():
    options = parse_arguments()
    # What scaling.environment_of() asks for.
    options.gpus, options.ranks = 0 if options.cores else max(options.devices), sorted(options.devices)
    options.threads = max(1, scaling.cores_there() // options.ranks[-1])
    environment = scaling.environment_of(options)
    results = []
    for side in options.sides:
        for devices in options.devices:
            for number in range(options.rounds):
                result = {"side": side, "devices": devices}
                for turn in range(2):
                    if (number + turn) % 2 == 0:
                        result["ours"] = ours(options, side, devices, environment)
                    else:
                        result["theirs"] = theirs(options, side, devices)
                results.append(result)
                print(f"round {number + 1} of {side}^3 on {devices}", file=sys.stderr, flush=True)
    print_table(results)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
