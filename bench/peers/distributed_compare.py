#!/usr/bin/env python3
"""Runs our transforms over ranks and those of jaxDecomp, JAX and cuFFTMp on the GPUs of one host in turns, and prints a table of ratios.

    python3 distributed_compare.py --build build/cuda-mpi --python venv/bin/python --devices 2 4 8 --sides 512 1024

With --cufftmp PROGRAM cuFFTMp takes part, by what cufftmp.cu is compiled to. With --cores ranks, and JAX's devices, are made
of cores. See turns.py.
"""

import shlex
import statistics
import sys
from pathlib import Path

from turns import HERE, Failed, in_turns, main_of, parser_of, print_table, run_json, write_json

sys.path.insert(0, str(HERE.parent / "distributed"))
import scaling

WHATS = ("complex forward", "complex backward", "real forward", "real backward")


def parse_arguments():
    parser = parser_of(__doc__)
    parser.add_argument("--build", type=Path, required=True, help="our build, with MPI")
    parser.add_argument("--devices", type=int, nargs="+", default=[2])
    parser.add_argument("--sides", type=int, nargs="+", default=[512, 1024], help="numbers along a side")
    parser.add_argument("--cufftmp", type=Path, help="the program that cufftmp.cu is compiled to")
    parser.add_argument("--without-jax", action="store_true", help="leave JAX and jaxDecomp out")
    parser.add_argument("--cores", action="store_true", help="compute on cores, of which each rank has an even share")
    parser.add_argument("--launch", default=scaling.LAUNCH, help="what starts our ranks")
    options = parser.parse_args()
    # What scaling.environment_of() asks for.
    options.gpus = 0 if options.cores else max(options.devices)
    options.threads = max(1, scaling.cores_there() // max(options.devices))
    return options


def seconds_of(options, name, command, side):
    """{what: seconds} of a program that prints rows of transforms"""
    rows, problem, _ = scaling.run(command, scaling.environment_of(options), 600)
    if problem or not rows:
        raise Failed(f"{name}: {problem or 'it printed nothing'}")
    for row in rows:
        if "skipped" in row:
            print(f"{name}, {row['what']} of {side}^3: {row['skipped']}", file=sys.stderr)
    return {row["what"]: row["seconds"] for row in rows if "seconds" in row}


def ours(options, side, devices):
    arguments = ("--sizes", str(side), "--cases", "real,complex", "--json", *(["--host"] if options.cores else []))
    case = scaling.Case("transforms", devices, arguments, "")
    return seconds_of(options, "slab_table", scaling.command_of(case, options), side)


def cufftmp(options, side, devices):
    launch = shlex.split(options.launch.replace("{ranks}", str(devices)))
    command = [*launch, str(options.cufftmp.absolute()), "--sizes", str(side), "--json"]
    return seconds_of(options, "cufftmp", command, side)


def theirs(options, side, devices):
    """{package: {what: seconds}}"""
    cores = ["--cores"] if options.cores else []
    script = HERE / "distributed_transforms.py"
    report = run_json(options.python, script, "--side", side, "--devices", devices, *cores)
    for name, problem in report["problems"].items():
        print(f"{name} of {side}^3 on {devices}: {problem}", file=sys.stderr)
    return report["seconds"]


def main():
    options = parse_arguments()
    who_runs = ["ours", *([] if options.without_jax else ["jax"]), *(["cufftmp"] if options.cufftmp else [])]
    results = []  # of a round each
    for side in options.sides:
        for devices in options.devices:
            for number, who in in_turns(options.rounds, who_runs, f" of {side}^3 on {devices}"):
                if who == "ours":
                    times = {"ours": ours(options, side, devices)}
                elif who == "cufftmp":
                    times = {"cuFFTMp": cufftmp(options, side, devices)}
                else:
                    times = theirs(options, side, devices)
                results.append({"side": side, "devices": devices, "round": number, "seconds": times})
    names = list(dict.fromkeys(name for result in results for name in result["seconds"]))
    peers = [name for name in names if name != "ours"]
    rows = []
    for side in options.sides:
        for devices in options.devices:
            for what in WHATS:
                medians = {}
                for name in names:
                    rounds = [r["seconds"].get(name, {}) for r in results if (r["side"], r["devices"]) == (side, devices)]
                    known = [one[what] for one in rounds if what in one]
                    medians[name] = statistics.median(known) if known else None
                if not medians["ours"]:
                    continue
                cells = [f"{what}, {side}^3", devices, f"{1e3 * medians['ours']:.3g}"]
                for peer in peers:
                    their = medians[peer]
                    cells += [f"{1e3 * their:.3g}", f"{their / medians['ours']:.2f}"] if their else ["", ""]
                rows.append(cells)
    heads = [word for peer in peers for word in (f"{peer}, ms", f"{peer} / ours")]
    print_table(["transform", "devices", "ours, ms", *heads], rows)
    write_json(options.json, results)


main_of(main)
