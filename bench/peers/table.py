#!/usr/bin/env python3
"""Runs our benchmarks of the table of the GPU courses and every peer that is installed in turns.

    python3 table.py --bench build/openmp/bench/array/array_table_bench \\
        --bench build/openmp/bench/array/array_escape_bench \\
        --bench build/openmp/bench/linalg/linalg_matmul_bench --python venv/bin/python

Each round runs every contestant once, in an order that shifts from round to round, and medians over the
rounds count. The table is printed as Markdown. This script needs the standard library alone; the peers
run in the Python named by --python.
"""

import argparse
import json
import re
import statistics
import sys
from pathlib import Path

from compare import HERE, last_line, run
from rows import SAME_AS as OUR_NAMES
from rows import row_names

PEERS = {  # name: script and options
    "numpy": ["table_numpy.py"],
    "numba-serial": ["table_numba.py", "--serial"],
    "numba-parallel": ["table_numba.py"],
    "jax": ["table_jax.py"],
    "cupy": ["table_cupy.py"],
    "cupy-kernels": ["table_cupy.py", "--kernels"],
    "numba-cuda": ["table_numba_cuda.py"],
    "torch": ["table_torch.py"],
}

# Rows that arithmetic bounds, not memory: their share of the copy bandwidth says nothing.
ARITHMETIC = ("matmul", "x xT", "mandelbrot")

# Other ways of ours to do a row of the peers.
SAME_AS = {"jacobi,recorded": "jacobi,statement", "jacobi,kernel": "jacobi,statement"}

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}


def row_of(benchmark):
    """The row that a benchmark such as x+=3/256/manual_time belongs to."""
    name, _, sizes = benchmark.removesuffix("/manual_time").partition("/")
    return f"{OUR_NAMES.get(name, name)}/{sizes}"


class Ours:
    """One of our benchmark executables."""

    def __init__(self, path, names, small):
        self.name = Path(path).name
        self.problem = None
        self.context = None
        listed = self.run([path, "--benchmark_list_tests"])
        self.wanted = [b for b in (listed or "").split("\n") if b and row_of(b) in names]
        if listed is not None and not self.wanted:
            self.problem = "it has none of the rows"
        self.command = [
            path,
            f"--benchmark_min_time={0.01 if small else 0.5}",
            "--benchmark_format=json",
        ]

    def run(self, command):
        try:
            done = run(command)
        except OSError as error:
            self.problem = str(error)
            return None
        if done.returncode != 0:
            self.problem = last_line(done.stderr)
            return None
        return done.stdout

    def run_once(self, names):
        """{row: seconds} and {row: share of the limit} for those of its rows that are among the names."""
        wanted = [b for b in self.wanted if row_of(b) in names]
        if not wanted:
            return {}, {}
        # not re.escape, which escapes spaces too: C++'s regular expressions refuse that
        any_of_them = "|".join(re.sub(r"([.+*?()|^$\[\]{}\\])", r"\\\1", b) for b in wanted)
        text = self.run([*self.command, f"--benchmark_filter=^({any_of_them})$"])
        if text is None:
            return None, None
        if "{" not in text:
            self.problem = last_line(text)
            return None, None
        report = json.loads(text[text.index("{") :])
        self.context = report["context"]
        seconds, shares = {}, {}
        for entry in report["benchmarks"]:
            if entry.get("run_type") == "aggregate" or entry.get("error_occurred"):
                continue
            row = row_of(entry["name"])
            seconds[row] = entry.get("seconds", entry["real_time"] * UNITS[entry["time_unit"]])
            if not row.startswith(ARITHMETIC):
                shares[row] = entry.get("share_of_copy")
            elif "ours/raw" in entry:  # against a direct call of BLAS
                shares[row] = 1 / entry["ours/raw"]
        return seconds, {row: share for row, share in shares.items() if share is not None}


class Peer:
    def __init__(self, name, options):
        self.name = name
        self.command = [options.python, str(HERE / PEERS[name][0]), *PEERS[name][1:]]
        self.about = None
        self.problem = None
        about = self.run([*self.command, "--about"])
        if about is not None:
            self.about = json.loads(last_line(about))
        self.command += ["--small"] if options.small else []

    def run(self, command):
        done = run(command)
        if done.returncode != 0:
            self.problem = last_line(done.stderr)
            return None
        if done.stderr:
            print(done.stderr, end="", file=sys.stderr)
        return done.stdout

    def run_once(self, names):
        any_of_them = "|".join(re.escape(name) for name in names)
        text = self.run([*self.command, "--rows", f"^({any_of_them})$"])
        return (None if text is None else json.loads(last_line(text))), {}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--bench", action="append", required=True, help="an executable of our benchmarks; repeat for more"
    )
    parser.add_argument("--python", default=sys.executable, help="a Python that has the peers' packages")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", default="", metavar="REGEX", help="only rows in which this is found")
    parser.add_argument(
        "--row-by-row",
        action="store_true",
        help="let all take their turns at one row before the next: slower, for machines whose memory is "
        "now fast and now slow",
    )
    parser.add_argument("--small", action="store_true", help="tiny sizes, to see that all of it works")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--json", help="write all times to this file")
    return parser.parse_args()


def milliseconds(seconds):
    return "" if seconds is None else f"{1e3 * seconds:.3g}" if seconds < 1 else f"{1e3 * seconds:.0f}"


def print_table(rows, ours, shares, peers):
    print(f"| row | ours, ms | share of limit | {' | '.join(peers)} | best peer / ours |")
    print("| --- " * (len(peers) + 4) + "|")
    for row in rows:
        own = ours.get(row)
        name, _, sizes = row.partition("/")
        theirs = f"{SAME_AS.get(name, name)}/{sizes}"
        others = [peers[peer].get(theirs) for peer in peers]
        best = min((s for s in others if s is not None), default=None)
        if own is None and best is None:
            continue
        share = f"{shares[row]:.0%}" if row in shares else ""
        ratio = f"{best / own:.2f}" if own and best else ""
        cells = [row, milliseconds(own), share, *map(milliseconds, others), ratio]
        print(f"| {' | '.join(cells)} |")


def medians(rounds):
    """{row: median} of several {row: number}."""
    rows = {row for one in rounds for row in one}
    return {row: statistics.median(one[row] for one in rounds if row in one) for row in rows}


def main():
    options = parse_arguments()
    names = [name for name in row_names(options.small) if re.search(options.rows, name)]
    if not names:
        sys.exit(f"table.py: --rows {options.rows} is found in no row; there are {row_names(options.small)}")

    ours = [Ours(path, names, options.small) for path in options.bench]
    everyone = ours + [Peer(name, options) for name in options.peers]
    for contestant in everyone:
        if contestant.problem:
            print(f"{contestant.name} is left out: {contestant.problem}")
    everyone = [c for c in everyone if not c.problem]
    ours = [c for c in ours if not c.problem]
    if not ours:
        sys.exit("table.py: none of our benchmarks runs")

    times = {c: [] for c in everyone}
    shares = {c: [] for c in everyone}
    for number in range(options.rounds):
        first = number % len(everyone)
        for turn in [[name] for name in names] if options.row_by_row else [names]:
            for contestant in everyone[first:] + everyone[:first]:
                seconds, share = contestant.run_once(turn)
                if seconds is None:
                    sys.exit(f"table.py: {contestant.name} failed: {contestant.problem}")
                times[contestant].append(seconds)
                shares[contestant].append(share)
                what = f" {turn[0]}" if options.row_by_row else ""
                print(f"round {number + 1}: {contestant.name}{what}", file=sys.stderr, flush=True)

    own_times, own_shares = {}, {}
    for contestant in ours:
        own_times |= medians(times[contestant])
        own_shares |= medians(shares[contestant])
    peers = {c.name: medians(times[c]) for c in everyone if c not in ours}
    print_table(names, own_times, own_shares, peers)
    if options.json:
        results = {
            "ours": {"seconds": own_times, "share": own_shares},
            "peers": peers,
            "contexts": {c.name: c.context for c in ours},
            "about": {c.name: c.about for c in everyone if c not in ours},
            "rounds": {c.name: times[c] for c in everyone},
        }
        Path(options.json).write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
