#!/usr/bin/env python3
"""Runs coir-jacobi and every peer that is installed in turns, and prints a table of ratios.

    python3 compare.py --app build/openmp/apps/jacobi/coir-jacobi --python venv/bin/python

Every picture is compared with that of coir's plain scheme. See turns.py and job.py.
"""

import json
import statistics
import sys
import tempfile
from pathlib import Path

from turns import HERE, PEERS, Failed, in_turns, main_of, parser_of, print_table, run, run_json, write_json

OURS = {"coir-plain": "plain", "coir-blocked": "blocked"}


class Contestant:
    def __init__(self, name, options, folder, photo):
        self.name, self.picture = name, folder / f"{name}.npy"
        self.seconds, self.report = [], None
        self.report_file = folder / f"{name}.json" if name in OURS else None
        if name in OURS:
            self.command = [options.app, photo, "--scheme", OURS[name], "--quiet", "--report", self.report_file]
        else:
            script, *words = PEERS[name]
            self.command = [options.python, HERE / script, *words, "--photo", photo]

    def run_once(self, sweeps):
        command = [*self.command, "--sweeps", sweeps, "--output", self.picture]
        if self.report_file:
            run(*command)
            self.report = json.loads(self.report_file.read_text())
        else:
            self.report = run_json(*command)

    def __str__(self):
        return f"{self.name} {self.report['seconds']:.3f} s"


def parse_arguments():
    parser = parser_of(__doc__, rounds=5)
    parser.add_argument("--app", required=True, help="the executable coir-jacobi")
    parser.add_argument("--rows", type=int, default=266)
    parser.add_argument("--columns", type=int, default=400)
    parser.add_argument("--sweeps", type=int, default=150_000)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    return parser.parse_args()


def results_of(options, folder):
    photo = folder / "photo.npy"
    run(options.python, HERE / "job.py", "photo", photo, options.rows, options.columns)
    contestants = []
    for name in [*OURS, *options.peers]:
        contestant = Contestant(name, options, folder, photo)
        try:
            contestant.run_once(1)
            contestants.append(contestant)
        except Failed as error:
            if name in OURS:
                raise
            print(f"{name} is left out: {error}", file=sys.stderr)
    for _, contestant in in_turns(options.rounds, contestants):
        contestant.run_once(options.sweeps)
        contestant.seconds.append(contestant.report["seconds"])
    return [
        {
            "name": c.name,
            "median_seconds": statistics.median(c.seconds),
            "seconds": c.seconds,
            "largest_difference": float(
                run(options.python, HERE / "job.py", "difference", c.picture, contestants[0].picture)
            ),
            "report": c.report,
        }
        for c in contestants
    ]


def main():
    options = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        results = results_of(options, Path(folder))
    plain, blocked = (result["median_seconds"] for result in results[:2])
    cells = options.rows * options.columns * options.sweeps
    rows = []
    for result in results:
        seconds = result["median_seconds"]
        numbers = seconds, cells / seconds / 1e9, seconds / plain, seconds / blocked, result["largest_difference"]
        rows.append([result["name"], *(f"{number:.3g}" for number in numbers)])
    print_table(["", "seconds", "Gcell/s", "/ plain", "/ blocked", "difference"], rows)
    write_json(options.json, results)


main_of(main)
