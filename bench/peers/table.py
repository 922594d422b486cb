#!/usr/bin/env python3
"""Runs our benchmarks of the table of the GPU courses and every peer that is installed in turns.

    python3 table.py --bench build/openmp/bench/array/array_table_bench \\
        --bench build/openmp/bench/array/array_escape_bench \\
        --bench build/openmp/bench/linalg/linalg_matmul_bench --python venv/bin/python

The table is printed as Markdown. See turns.py.
"""

import re
import statistics
import sys
from pathlib import Path

from rows import SAME_AS as OUR_NAMES
from rows import row_names
from turns import (
    HERE,
    PEERS,
    Failed,
    in_turns,
    main_of,
    parser_of,
    print_table,
    run,
    run_bench,
    run_json,
    write_json,
)

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

    def __init__(self, path, names, options):
        self.path, self.seconds_of_row = path, 0.01 if options.small else 0.5
        self.about, self.rounds, self.shares = None, [], []
        self.wanted = [b for b in run(path, "--benchmark_list_tests").split("\n") if b and row_of(b) in names]
        if not self.wanted:
            raise Failed(f"{path} has none of the rows")

    def run_once(self, names):
        wanted = [b for b in self.wanted if row_of(b) in names]
        if not wanted:
            return
        # not re.escape, which escapes spaces too: C++'s regular expressions refuse that
        any_of_them = "|".join(re.sub(r"([.+*?()|^$\[\]{}\\])", r"\\\1", b) for b in wanted)
        entries, self.about = run_bench(self.path, f"^({any_of_them})$", self.seconds_of_row)
        seconds, shares = {}, {}
        for entry in entries:
            if entry.get("run_type") == "aggregate" or entry.get("error_occurred"):
                continue
            row = row_of(entry["name"])
            seconds[row] = entry.get("seconds", entry["real_time"] * UNITS[entry["time_unit"]])
            if row.startswith(ARITHMETIC) and "ours/raw" in entry:  # against a direct call of BLAS
                shares[row] = 1 / entry["ours/raw"]
            elif not row.startswith(ARITHMETIC) and "share_of_copy" in entry:
                shares[row] = entry["share_of_copy"]
        self.rounds.append(seconds)
        self.shares.append(shares)

    def __str__(self):
        return Path(self.path).name


class Peer:
    def __init__(self, name, options):
        script, *words = PEERS[name]
        command = [options.python, HERE / script, *words]
        self.name, self.rounds = name, []
        self.about = run_json(*command, "--about")
        self.command = command + ["--small"] * options.small

    def run_once(self, names):
        wanted = [name for name in names if name.split("/")[0] in self.about["rows"]]
        report = run_json(*self.command, "--measure", *wanted) if wanted else {"benchmarks": []}
        for entry in report["benchmarks"]:
            if "error_message" in entry:
                print(f"{self.name}, {entry['name']}: {entry['error_message']}", file=sys.stderr)
        self.rounds.append({e["name"]: e["seconds"] for e in report["benchmarks"] if "seconds" in e})

    def __str__(self):
        return self.name


def parse_arguments():
    parser = parser_of(__doc__)
    parser.add_argument(
        "--bench", action="append", required=True, help="an executable of our benchmarks; repeat for more"
    )
    parser.add_argument("--rows", default="", metavar="REGEX", help="only rows in which this is found")
    parser.add_argument("--small", action="store_true", help="tiny sizes, to see that all of it works")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    return parser.parse_args()


def made(maker, things, *arguments):
    """Those contestants that run here."""
    contestants = []
    for thing in things:
        try:
            contestants.append(maker(thing, *arguments))
        except Failed as error:
            print(f"{thing} is left out: {error}", file=sys.stderr)
    return contestants


def milliseconds(seconds):
    return "" if seconds is None else f"{1e3 * seconds:.3g}" if seconds < 1 else f"{1e3 * seconds:.0f}"


def medians(rounds):
    """{row: median} of several {row: number}."""
    rows = {row for one in rounds for row in one}
    return {row: statistics.median(one[row] for one in rounds if row in one) for row in rows}


def cells_of(row, ours, shares, peers):
    own = ours.get(row)
    name, _, sizes = row.partition("/")
    others = [peer.get(f"{SAME_AS.get(name, name)}/{sizes}") for peer in peers]
    best = min((s for s in others if s is not None), default=None)
    if own is None and best is None:
        return None
    share = f"{shares[row]:.0%}" if row in shares else ""
    ratio = f"{best / own:.2f}" if own and best else ""
    return [row, milliseconds(own), share, *map(milliseconds, others), ratio]


def main():
    options = parse_arguments()
    names = [name for name in row_names(options.small) if re.search(options.rows, name)]
    if not names:
        raise Failed(f"--rows {options.rows} is found in no row; there are {row_names(options.small)}")
    ours = made(Ours, options.bench, names, options)
    peers = made(Peer, options.peers, options)
    if not ours:
        raise Failed("none of our benchmarks runs")
    for _, contestant in in_turns(options.rounds, ours + peers):
        contestant.run_once(names)

    seconds = medians([one for contestant in ours for one in contestant.rounds])
    shares = medians([one for contestant in ours for one in contestant.shares])
    theirs = {peer.name: medians(peer.rounds) for peer in peers}
    rows = (cells_of(row, seconds, shares, theirs.values()) for row in names)
    print_table(["row", "ours, ms", "share of limit", *theirs, "best peer / ours"], filter(None, rows))
    write_json(
        options.json,
        {
            "ours": {"seconds": seconds, "share": shares},
            "peers": theirs,
            "about": {str(c): c.about for c in ours + peers},
            "rounds": {str(c): c.rounds for c in ours + peers},
        },
    )


main_of(main)
