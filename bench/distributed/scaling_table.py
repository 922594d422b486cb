"""The tables of scaling.py: measured times, and beside them those of the model of docs/distributed.md.

    a step           t = t_1 / P + 2 V (P - 1) / (P^2 B) + c n^3 / P + t_0,   V = 4 n^3 bytes
    a transform      t = t_1 / P + k V (P - 1) / (P^2 B),                     V the bytes of the spectrum, k exchanges

t_1 is what was measured on one rank, or, where that lacks the memory, on one rank with another n,
times the ratio of the numbers of points; B is the measured rate of exchanges on P ranks.
"""

import math
import statistics

PLAN = "plan, "
TRANSFORMS = {  # what: its name, complex numbers of the spectrum of n^3, exchanges
    "real forward": ("R2C", lambda n: n * n * (n // 2 + 1), 1),
    "real backward": ("C2R", lambda n: n * n * (n // 2 + 1), 1),
    "filter": ("filter", lambda n: n * n * (n // 2 + 1), 2),
    "complex forward": ("C2C forward", lambda n: n**3, 1),
    "complex backward": ("C2C backward", lambda n: n**3, 1),
}


class Results:
    """All rows that programs printed, by what they measure."""

    def __init__(self):
        self.runs = {}  # (what, n or bytes, ranks): rows
        self.left_out = {}  # the same: why
        self.machine = {"ranks": 0}  # what programs say that they run on

    def add(self, ranks, rows):
        """Returns those that measure something."""
        measured = [row for row in rows if row["what"] != "machine"]
        for row in rows:
            size = next((row[name] for name in ("n", "bytes", "columns") if name in row), None)
            key = (row["what"], size, ranks)
            if row["what"] == "machine":
                self.machine = max(self.machine, row, key=lambda machine: machine["ranks"])
            elif "skipped" in row:
                self.left_out[key] = row["skipped"]
            else:
                self.runs.setdefault(key, []).append(row)
        return measured

    def median(self, key, name="seconds"):
        rows = self.runs.get(key)
        return statistics.median(row[name] for row in rows) if rows else None

    def sizes(self, what):
        return sorted({key[1] for key in self.runs if key[0] == what})

    def ranks(self, what, size):
        return sorted(key[2] for key in self.runs if key[:2] == (what, size))


class Table:
    """The figures of a run so far.

    options: ranks, per_particle_ps, fixed_ms and rate_gbs
    weak: {ranks: particles along a side of which each rank has as many}
    """

    def __init__(self, options, results, sizes, weak):
        self.options, self.results, self.sizes = options, results, sizes
        rows_of, strong = results.sizes, self.strong_rows
        self.exchanges = [
            self.exchange(size, ranks)
            for size in rows_of("exchange")
            for ranks in results.ranks("exchange", size)
        ]
        self.per_particle, self.fixed = self.parameters()
        self.transforms = [row for what in TRANSFORMS for n in rows_of(what) for row in strong(what, n)]
        self.strong = [row for n in rows_of("step") if n in sizes.particles for row in strong("step", n)]
        self.weak = self.weak_rows(weak)
        self.gradients = self.gradient_rows()
        self.water = self.water_rows()

    def document(self):
        model = {
            "per_particle_seconds": self.per_particle,
            "fixed_seconds": self.fixed,
            "rate": {ranks: self.rate(ranks) for ranks in self.options.ranks if ranks > 1},
        }
        names = "exchanges", "transforms", "strong", "weak", "gradients", "water"
        tables = {name: getattr(self, name) for name in names}
        runs = [{**row, "ranks": key[2]} for key, rows in self.results.runs.items() for row in rows]
        return {"model": model, **tables, "runs": runs}

    def exchange(self, size, ranks):
        key = ("exchange", size, ranks)
        ring, each = (self.results.median(key, name) for name in ("ring_seconds", "all_seconds"))
        return {
            "bytes": size,
            "ranks": ranks,
            "runs": len(self.results.runs[key]),
            "ring_seconds": ring,
            "all_seconds": each,
            "ring_rate": size / ring,
            "all_rate": self.results.median(key, "all_bytes") / each,
        }

    def rate(self, ranks):
        """Bytes that leave a rank in a second of an exchange, or None."""
        if self.options.rate_gbs:
            return 1e9 * self.options.rate_gbs
        largest = self.sizes.exchange[-1]
        rates = [row["all_rate"] for row in self.exchanges if (row["bytes"], row["ranks"]) == (largest, ranks)]
        return rates[0] if rates else None

    def on_one(self, what, n):
        """(seconds on one rank, whether they are those of another n), by the faster of slab and plan;
        or (None, False)."""
        names = what, PLAN + what
        measured = {}
        for side in {side for name in names for side in self.results.sizes(name)}:
            both = [self.results.median((name, side, 1)) for name in names]
            if any(both):
                measured[side] = min(filter(None, both))
        if not measured:
            return None, False
        near = min(measured, key=lambda side: abs(math.log(side / n)))
        return measured[near] * (n / near) ** 3, near != n

    def model(self, what, n, ranks):
        """Seconds, or None where t_1 or B is unknown."""
        one, rate = self.on_one(what, n)[0], self.rate(ranks)
        if one is None or rate is None or ranks == 1:
            return None
        crossing = (ranks - 1) / ranks**2 / rate
        if what != "step":
            _, numbers, exchanges = TRANSFORMS[what]
            return one / ranks + exchanges * 8 * numbers(n) * crossing
        return one / ranks + 2 * 4 * n**3 * crossing + self.per_particle * n**3 / ranks + self.fixed

    def row(self, what, n, ranks):
        key = (what, n, ranks)
        runs, seconds, rate = self.results.runs[key], self.results.median(key), self.rate(ranks)
        modelled = None if what.startswith(PLAN) else self.model(what, n, ranks)
        most = {name: max(run[name] for run in runs) for name in ("bytes_sent", "bytes_predicted", "bytes_held")}
        return most | {
            "what": what,
            "n": n,
            "ranks": ranks,
            "runs": len(runs),
            "rounds": sum(run["rounds"] for run in runs),
            "seconds": seconds,
            "share_of_rate": most["bytes_sent"] / seconds / rate if rate and ranks > 1 else None,
            "model_seconds": modelled,
            "model_error": modelled / seconds - 1 if modelled else None,
        }

    def strong_rows(self, what, n):
        """One n on more and more ranks: how many times as fast as one, or as the fewest measured."""
        all_ranks = self.results.ranks(what, n)
        one, is_scaled = self.on_one(what, n)
        fewest, base = 1, one
        if one is None or is_scaled:
            fewest, base = all_ranks[0], self.results.median((what, n, all_ranks[0]))
        rows = []
        for name, ranks in [(PLAN + what, 1), *((what, ranks) for ranks in all_ranks)]:
            if (name, n, ranks) in self.results.runs:
                row = self.row(name, n, ranks)
                row |= {"against_ranks": fewest, "speed_up": base / row["seconds"]}
                rows.append(row | {"efficiency": row["speed_up"] * fewest / ranks})
        return rows

    def weak_rows(self, sides):
        """About as many particles on each rank: how many times as many as one moves in a second."""
        rows = []
        for ranks, n in sides.items():
            if ("step", n, ranks) in self.results.runs:
                row = self.row("step", n, ranks)
                row["particles_per_second"] = rate = n**3 / row["seconds"]
                base = rows[0] if rows else row
                speed_up = rate / base["particles_per_second"]
                row |= {"against_ranks": base["ranks"], "speed_up": speed_up}
                rows.append(row | {"efficiency": speed_up * base["ranks"] / ranks})
        return rows

    def water_rows(self):
        """As many cells on each rank: how many times as many as one steps in a second."""
        rows, what = [], "shallow step"
        for columns in self.results.sizes(what):
            for ranks in self.results.ranks(what, columns):
                key = (what, columns, ranks)
                runs, rate = self.results.runs[key], self.results.median(key, "cells_per_second")
                row = {"columns": columns, "rows": runs[0]["rows"], "ranks": ranks, "runs": len(runs)}
                row |= {"rounds": sum(run["rounds"] for run in runs), "cells_per_second": rate}
                row |= {"seconds": self.results.median(key), "share": self.results.median(key, "share")}
                base = rows[0] if rows else row
                row |= {"against_ranks": base["ranks"], "speed_up": rate / base["cells_per_second"]}
                rows.append(row | {"efficiency": row["speed_up"] * base["ranks"] / ranks})
        return rows

    def gradient_rows(self):
        """A loss of the density after some steps, and the loss with its gradient."""
        rows, what = [], "gradient"
        for n in self.results.sizes(what):
            for ranks in self.results.ranks(what, n):
                key = (what, n, ranks)
                runs, seconds = self.results.runs[key], self.results.median(key, "gradient_seconds")
                row = {"what": what, "n": n, "ranks": ranks, "runs": len(runs), "seconds": seconds}
                row |= {"rounds": sum(run["rounds"] for run in runs)}
                row |= {"value_seconds": self.results.median(key, "value_seconds")}
                row |= {"over_value": self.results.median(key, "gradient/value")}
                row |= {"bytes_of_a_particle": max(run["bytes/particle"] for run in runs)}
                base = next((other for other in rows if other["n"] == n), row)
                row |= {"against_ranks": base["ranks"], "speed_up": base["seconds"] / seconds}
                rows.append(row | {"efficiency": row["speed_up"] * base["ranks"] / ranks})
        return rows

    def parameters(self):
        """(c, t_0), seconds: those that were given, and otherwise those of the fit, or 0 without one."""
        given = self.options.per_particle_ps, self.options.fixed_ms
        fitted = self.fit() or (0.0, 0.0)
        return tuple(
            fit if value is None else unit * value for value, unit, fit in zip(given, (1e-12, 1e-3), fitted)
        )

    def fit(self):
        """(c, t_0), seconds, with which the model has the two largest steps on two ranks exactly, or
        None."""
        runs, rate = self.results.runs, self.rate(2)
        both = [n for n in self.results.sizes("step") if ("step", n, 1) in runs and ("step", n, 2) in runs]
        sides = both[-2:]
        if len(sides) < 2 or not rate:
            return None

        def left(n):
            two, one = (self.results.median(("step", n, ranks)) for ranks in (2, 1))
            return two - one / 2 - 2 * n**3 / rate

        halves = [n**3 / 2 for n in sides]
        per_particle = (left(sides[1]) - left(sides[0])) / (halves[1] - halves[0])
        return per_particle, left(sides[0]) - per_particle * halves[0]


# How it is shown.


def number(value, digits=3):
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def percent(value, sign=""):
    return "" if value is None else f"{100 * value:{sign}.0f} %"


def name_of(row):
    what = row["what"].removeprefix(PLAN)
    name = f"{TRANSFORMS[what][0]} " if what in TRANSFORMS else ""
    return f"{name}{row['n']}^3" + ", plan in place" * (what != row["what"])


COLUMNS = {
    "": name_of,
    "ranks": lambda row: str(row["ranks"]),
    "runs / rounds": lambda row: f"{row['runs']} / {row['rounds']}",
    "ms": lambda row: number(1e3 * row["seconds"]),
    "times one rank": lambda row: f"{row['speed_up']:.2f}"
    + (f" of {row['against_ranks']} ranks" if row["against_ranks"] > 1 else ""),
    "efficiency": lambda row: percent(row["efficiency"]),
    "MB sent per rank": lambda row: number(row["bytes_sent"] / 1e6),
    "of the link's rate": lambda row: percent(row["share_of_rate"]),
    "model, ms": lambda row: number(row["model_seconds"] and 1e3 * row["model_seconds"]),
    "model's error": lambda row: percent(row["model_error"], "+"),
    "GB predicted per rank": lambda row: f"{row['bytes_predicted'] / 1e9:.3g}",
    "GB held": lambda row: f"{row['bytes_held'] / 1e9:.3g}",
}

GRADIENT_COLUMNS = {
    **{name: COLUMNS[name] for name in ("", "ranks", "runs / rounds")},
    "value, ms": lambda row: number(1e3 * row["value_seconds"]),
    "with gradient, ms": COLUMNS["ms"],
    "ratio": lambda row: number(row["over_value"]),
    **{name: COLUMNS[name] for name in ("times one rank", "efficiency")},
    "bytes a particle of a rank": lambda row: number(row["bytes_of_a_particle"]),
}

WATER_COLUMNS = {
    "cells": lambda row: f"{row['columns']} x {row['rows']}",
    **{name: COLUMNS[name] for name in ("ranks", "runs / rounds", "ms")},
    "Gcell/s": lambda row: number(row["cells_per_second"] / 1e9),
    **{name: COLUMNS[name] for name in ("times one rank", "efficiency")},
    "of the triad's rate": lambda row: percent(row["share"]),
}

EXCHANGE_COLUMNS = {
    "bytes": lambda row: str(row["bytes"]),
    "ranks": lambda row: str(row["ranks"]),
    "runs": lambda row: str(row["runs"]),
    "ring, us": lambda row: number(1e6 * row["ring_seconds"]),
    "ring, GB/s": lambda row: number(row["ring_rate"] / 1e9),
    "all to all, us": lambda row: number(1e6 * row["all_seconds"]),
    "all to all, GB/s": lambda row: number(row["all_rate"] / 1e9),
}


def markdown_of(table, left_out, state, machine):
    options = table.options
    places = f"{options.gpus} GPUs"
    if not options.gpus:
        places = f"{machine['cores']} cores, threads of a rank: {machine['threads']}"
    parts = [
        "# Scaling of coir on one host",
        f"{machine['device']}, {places}, transport {machine['transport']}; {state}. Times are medians of runs, each the "
        "median of rounds that all ranks begin together, the slowest rank's. Bytes sent and held are those of the rank "
        "with most.",
    ]

    def section(title, columns, rows):
        if rows:
            lines = [list(columns), ["---"] * len(columns)]
            lines += [[cell(row) for cell in columns.values()] for row in rows]
            parts.append(f"## {title}")
            parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))

    section("Exchanges", EXCHANGE_COLUMNS, table.exchanges)
    section("Transforms, float", COLUMNS, table.transforms)
    section("Steps, mesh ratio 1, float: strong scaling", COLUMNS, table.strong)
    weak = f"about {table.sizes.weak}^3 particles on each rank"
    section(f"Steps: weak scaling, {weak}", COLUMNS, table.weak)
    section("Gradients through steps, float: strong scaling", GRADIENT_COLUMNS, table.gradients)
    section("Steps of shallow water, float: weak scaling", WATER_COLUMNS, table.water)
    rate = f"{options.rate_gbs} GB/s" if options.rate_gbs else "the rate of the largest exchange all to all"
    model = (
        "Steps: t = t_1 / P + 2 V (P - 1) / (P^2 B) + c n^3 / P + t_0 with V = 4 n^3 bytes, "
        f"c = {1e12 * table.per_particle:.3g} ps and t_0 = {1e3 * table.fixed:.3g} ms; transforms have the first two "
        f"terms. B is {rate}."
    )
    rows = [row for row in table.transforms + table.strong + table.weak if row["model_seconds"]]
    scaled = sorted({f"{row['n']}^3" for row in rows if table.on_one(row["what"], row["n"])[1]})
    if scaled:
        model += f" t_1 of {', '.join(scaled)} is that of the nearest size of one rank, times the ratio of points."
    if table.fit() and None in (options.per_particle_ps, options.fixed_ms):
        model += " What wasn't told of c and t_0 is fitted to the two largest steps on two ranks."
    parts += ["## Model", model]
    section("Left out", {"case": lambda row: row[0], "why": lambda row: row[1]}, left_out)
    return "\n\n".join(parts) + "\n"
