"""What the programs that compare share: how contestants are run in turns, and how medians become a table.

Only times taken in turns on one machine compare: each round runs every contestant once, in an order that shifts from round
to round, and medians over the rounds count. These programs need the standard library alone; the peers run in the Python
named by --python.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

PEERS = {  # of the table and of compare.py, name: script and options; all run in --python
    "numpy": ["table_numpy.py"],
    "numba-serial": ["table_numba.py", "--serial"],
    "numba-parallel": ["table_numba.py"],
    "jax": ["table_jax.py"],
    "cupy": ["table_cupy.py"],
    "cupy-kernels": ["table_cupy.py", "--kernels"],
    "numba-cuda": ["table_numba_cuda.py"],
    "torch": ["table_torch.py"],
}

# The same for all who use OpenMP: threads stay on their CPUs and wait for each other awake.
ENVIRONMENT = {
    "OMP_PROC_BIND": "spread",
    "OMP_PLACES": "threads",
    "OMP_WAIT_POLICY": "active",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def parser_of(description, rounds=3):
    """With the options that all have."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="a Python that has the peers' packages")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--json", help="write all times to this file")
    return parser


class Failed(Exception):
    """A program ended with an error, which is the text."""


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no message"


def run(*command):
    """What a program prints."""
    environment = {**ENVIRONMENT, **os.environ}
    try:
        done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True)
    except OSError as error:
        raise Failed(str(error))
    if done.returncode != 0:
        raise Failed(last_line(done.stderr))
    return done.stdout


def run_json(*command):
    """The object that a program prints, maybe after other lines."""
    text = run(*command)
    if "{" not in text:
        raise Failed(f"{command[0]}: {last_line(text)}")
    return json.loads(text[text.index("{") :])


def run_bench(bench, regex, seconds):
    """The rows of one of our benchmarks, and its context."""
    report = run_json(
        bench, f"--benchmark_filter={regex}", f"--benchmark_min_time={seconds}", "--benchmark_format=json"
    )
    return report["benchmarks"], report["context"]


def in_turns(number, contestants, what=""):
    """Each contestant in each round, which is told to the user after it."""
    for round_number in range(number):
        first = round_number % len(contestants)
        for contestant in contestants[first:] + contestants[:first]:
            yield round_number, contestant
            print(f"round {round_number + 1}{what}: {contestant}", file=sys.stderr, flush=True)


def print_table(heads, rows):
    for cells in (heads, ["---"] * len(heads), *rows):
        print(f"| {' | '.join(map(str, cells))} |")


def write_json(path, results):
    if path:
        Path(path).write_text(json.dumps(results, indent=2) + "\n")


def main_of(main):
    """Calls main(), and reports what failed."""
    try:
        main()
    except Failed as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")
