#!/usr/bin/env python3
"""Runs coir-jacobi and every peer that is installed in turns, and prints a table of ratios.

    python3 compare.py --app build/openmp/apps/jacobi/coir-jacobi --python venv/bin/python

Only times taken in turns on one machine compare: each round runs every contestant once, in an order
that shifts from round to round, and medians over the rounds count. Every picture is compared with that
of coir's plain scheme. This script needs the standard library alone; the peers run in the Python
named by --python.
"""

import argparse
import array
import ast
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

PEERS = {  # name: script; all run in --python
    "numpy": "numpy_arrays.py",
    "numba-serial": "numba_serial.py",
    "numba-parallel": "numba_parallel.py",
    "jax": "jax_loop.py",
    "numba-cuda": "numba_cuda.py",
    "cupy-arrays": "cupy_arrays.py",
    "cupy-raw": "cupy_raw.py",
    "torch": "torch_arrays.py",
}
OURS = {"coir-plain": "plain", "coir-blocked": "blocked"}

# The same for all who use OpenMP: threads stay on their CPUs and wait for each other awake.
ENVIRONMENT = {
    "OMP_PROC_BIND": "spread",
    "OMP_PLACES": "threads",
    "OMP_WAIT_POLICY": "active",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def run(command):
    environment = {**ENVIRONMENT, **os.environ}
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no message"


def read_npy(path):
    """The shape and numbers of a float32 .npy file in C order."""
    data = Path(path).read_bytes()
    size = 2 if data[6] == 1 else 4
    start = 8 + size + int.from_bytes(data[8 : 8 + size], "little")
    header = ast.literal_eval(data[8 + size : start].decode("latin1"))
    if header["descr"] != "<f4" or header["fortran_order"]:
        raise ValueError(f"{path} holds {header}, not little-endian float32 in C order")
    numbers = array.array("f", data[start:])
    if sys.byteorder == "big":
        numbers.byteswap()
    return header["shape"], numbers


def largest_difference(path, other):
    shape, numbers = read_npy(path)
    other_shape, others = read_npy(other)
    if shape != other_shape:
        raise ValueError(f"{path} is {shape}, {other} is {other_shape}")
    return max(abs(a - b) for a, b in zip(numbers, others))


class Contestant:
    def __init__(self, name, command, folder):
        self.name = name
        self.picture = folder / f"{name}.npy"
        self.command = command
        self.seconds = []
        self.report = None
        self.problem = None  # why it doesn't take part


def make_contestants(options, folder, photo):
    contestants = []
    for name, scheme in OURS.items():
        report = folder / f"{name}.json"
        command = [options.app, photo, "--scheme", scheme, "--quiet", "--report", report]
        contestants.append(Contestant(name, command, folder))
        contestants[-1].report_file = report
    for name in options.peers:
        command = [options.python, HERE / PEERS[name], photo]
        contestants.append(Contestant(name, command, folder))
        contestants[-1].report_file = None
    return contestants


def run_once(contestant, sweeps):
    """The report of one run, or None with contestant.problem set."""
    command = [*contestant.command, "--sweeps", str(sweeps), "--output", contestant.picture]
    done = run([str(part) for part in command])
    if done.returncode != 0:
        contestant.problem = last_line(done.stderr)
        return None
    text = contestant.report_file.read_text() if contestant.report_file else done.stdout
    return json.loads(text)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--app", required=True, help="the executable coir-jacobi")
    parser.add_argument("--python", default=sys.executable, help="a Python that has the peers' packages")
    parser.add_argument("--rows", type=int, default=266)
    parser.add_argument("--columns", type=int, default=400)
    parser.add_argument("--sweeps", type=int, default=150_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--json", help="write all times and reports to this file")
    return parser.parse_args()


def print_table(contestants, differences):
    plain, blocked = (statistics.median(c.seconds) for c in contestants[:2])
    print(f"{'':16}{'seconds':>10}{'Gcell/s':>10}{'/ plain':>10}{'/ blocked':>10}{'difference':>12}")
    for c in contestants:
        seconds = statistics.median(c.seconds)
        rate = c.report["rows"] * c.report["columns"] * c.report["sweeps"] / seconds / 1e9
        print(
            f"{c.name:16}{seconds:10.3f}{rate:10.2f}{seconds / plain:10.2f}{seconds / blocked:10.2f}"
            f"{differences[c.name]:12.2g}"
        )


def main():
    options = parse_arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        photo = folder / "photo.npy"
        made = run(
            [options.python, str(HERE / "job.py"), str(photo), str(options.rows), str(options.columns)]
        )
        if made.returncode != 0:
            sys.exit(f"compare.py: {options.python} can't make the photograph: {last_line(made.stderr)}")

        contestants = make_contestants(options, folder, photo)
        for contestant in contestants:  # a first run finds out who is there
            run_once(contestant, 1)
            if contestant.problem:
                print(f"{contestant.name} is left out: {contestant.problem}")
        if contestants[0].problem or contestants[1].problem:
            sys.exit("compare.py: coir-jacobi doesn't run")
        contestants = [c for c in contestants if not c.problem]

        for round_number in range(options.rounds):
            first = round_number % len(contestants)
            for contestant in contestants[first:] + contestants[:first]:
                report = run_once(contestant, options.sweeps)
                if report is None:
                    sys.exit(f"compare.py: {contestant.name} failed: {contestant.problem}")
                contestant.report = report
                contestant.seconds.append(report["seconds"])
                print(f"round {round_number + 1}: {contestant.name} {report['seconds']:.3f} s", flush=True)

        differences = {c.name: largest_difference(c.picture, contestants[0].picture) for c in contestants}
        print()
        print_table(contestants, differences)
        if options.json:
            results = [
                {
                    "name": c.name,
                    "median_seconds": statistics.median(c.seconds),
                    "seconds": c.seconds,
                    "largest_difference": differences[c.name],
                    "report": c.report,
                }
                for c in contestants
            ]
            Path(options.json).write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
