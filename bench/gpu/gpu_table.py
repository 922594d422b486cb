#!/usr/bin/env python3
"""Measures the benchmarks of a build for GPUs, and compares them with the kept table of the same card.

    bench/gpu/gpu_table.py --build build/cuda                  1 if a row takes more than 1.03 times as long
    bench/gpu/gpu_table.py --build build/cuda --write          writes the card's table anew
    bench/gpu/gpu_table.py --build build/cuda --rows readout   only rows in which this is found

Rows that take less than 15 us are left out. What seems worse is measured again, three times in all, and the
fastest time counts. See README.md.
"""

import argparse
import re
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))
sys.dont_write_bytecode = True
from turns import Failed, main_of, run, run_bench

LEAST_US, WORSE, TURNS = 15, 1.03, 3
UNITS = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}
PHASES = ("paint", "fft", "readout", "push", "sort")  # of nbody/step, counters in seconds
BEGIN = """# Times of kernels on GPUs

By `gpu_table.py --write`: medians in microseconds, of rows that take 15 us and more. See [README.md](README.md).
"""


def programs_of(build):
    """{name: path} of the build's benchmarks, but those of the host's cores."""
    paths = sorted(build.glob("bench/*/*_bench"))
    return {path.name.removesuffix("_bench"): path for path in paths if not path.name.endswith("_host_bench")}


def times_of(entry):
    """{row: microseconds} of one row of a benchmark: itself, and the phases of a step."""
    if entry.get("error_occurred") or entry.get("run_type") == "aggregate":
        return {}
    name = entry["name"].removesuffix("/manual_time")
    seconds = entry.get("seconds")
    times = {name: 1e6 * seconds if seconds else entry["real_time"] * UNITS[entry["time_unit"]]}
    if name.startswith(("fastpm", "bullfrog")):
        times |= {f"{name}, {phase}": 1e6 * entry[phase] for phase in PHASES if phase in entry}
    return times


def measured(program, path, names):
    """({row: microseconds}, the card) of those of the program's benchmarks."""
    escaped = [re.sub(r"([.+*?()|^$\[\]{}\\])", r"\\\1", name) for name in names]
    entries, context = run_bench(path, f"^({'|'.join(escaped)})(/|$)", 0.1)
    times = {}
    for entry in entries:
        times |= {f"{program}: {row}": time for row, time in times_of(entry).items()}
    return times, context["device"]


def read_tables(path):
    """{card: {row: microseconds}}"""
    tables = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("## "):
            tables[line[3:]] = table = {}
        elif match := re.fullmatch(r"\| (.+) \| ([0-9.]+) \|", line):
            table[match[1]] = float(match[2])
    return tables


def write_tables(path, tables):
    parts = [BEGIN]
    for card, table in sorted(tables.items()):
        rows = [f"| {row} | {time:.4g} |" if time < 1e4 else f"| {row} | {time:.0f} |" for row, time in table.items()]
        parts.append("\n".join([f"## {card}\n", "| row | us |", "| --- | --- |", *rows, ""]))
    path.write_text("\n".join(parts))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="with benchmarks: cmake --build DIR --target benchmarks")
    parser.add_argument("--table", type=Path, default=HERE / "table.md", help="default: %(default)s")
    parser.add_argument("--rows", default="", metavar="REGEX", help="only rows in which this is found")
    parser.add_argument("--write", action="store_true", help="put what is measured into the table")
    return parser.parse_args()


def benchmark_of(row):
    """('program', 'benchmark') of a row such as 'nbody_step: fastpm/512/2, readout'."""
    program, name = row.split(": ", 1)
    return program, re.sub(rf", ({'|'.join(PHASES)})$", "", name)


def main():
    options = parse_arguments()
    programs = programs_of(options.build)
    if not programs:
        raise Failed(f"{options.build} has no benchmarks: cmake --build {options.build} --target benchmarks")
    wanted = re.compile(options.rows)
    now, card = {}, None
    for program, path in programs.items():
        listed = [line.removesuffix("/manual_time") for line in run(path, "--benchmark_list_tests").splitlines()]
        phases = [f", {phase}" for phase in PHASES] if program == "nbody_step" else []
        names = [n for n in listed if any(wanted.search(f"{program}: {n}{phase}") for phase in ["", *phases])]
        if not names:
            continue
        times, card = measured(program, path, names)
        now |= {row: time for row, time in times.items() if time >= LEAST_US and wanted.search(row)}
        print(f"{program}: {len(times)} rows", file=sys.stderr, flush=True)
    if not now:
        raise Failed(f"no row of {LEAST_US} us and more has {options.rows}")

    tables = read_tables(options.table)
    if options.write:
        kept = {row: time for row, time in tables.get(card, {}).items() if not wanted.search(row)}
        write_tables(options.table, tables | {card: dict(sorted((kept | now).items()))})
        return
    if card not in tables:
        there = ", ".join(tables) or "none"
        raise Failed(f"{options.table} has no table of {card}, only of: {there}. Write it with --write before the change")

    before = {row: time for row, time in tables[card].items() if wanted.search(row)}
    for _ in range(TURNS - 1):
        worse = [row for row in before if row in now and now[row] > WORSE * before[row]]
        for program in {benchmark_of(row)[0] for row in worse}:
            names = {name for p, name in map(benchmark_of, worse) if p == program}
            again, _ = measured(program, programs[program], sorted(names))
            now |= {row: min(time, now[row]) for row, time in again.items() if row in now}
    ratios = {row: now[row] / before[row] for row in before if row in now}
    worse = {row: ratio for row, ratio in ratios.items() if ratio > WORSE}
    missing = [row for row in before if row not in ratios and before[row] > WORSE * LEAST_US]
    for row, ratio in sorted(worse.items(), key=lambda item: -item[1]):
        print(f"{ratio:.2f}  {row}: {now[row]:.4g} us, {before[row]:.4g} before")
    for row in missing:
        print(f"gone  {row}: {before[row]:.4g} us before")
    middle = f", median ratio {statistics.median(ratios.values()):.3f}" if ratios else ""
    print(f"{card}: {len(ratios)} rows{middle}; {len(worse)} worse, {len(missing)} gone, {len(now) - len(ratios)} new")
    sys.exit(bool(worse or missing))


main_of(main)
