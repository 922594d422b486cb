#!/usr/bin/env python3
"""Measures how coir scales over the GPUs of one host, or over ranks that have a share of its cores each.

    cmake --build build/cuda-mpi --target scaling_programs
    bench/distributed/scaling.py --build build/cuda-mpi

Exchanges, slab transforms and steps run on 1, 2, 4 and 8 ranks (those there are), the important cases first, and all of them
again while time is left. After each case scaling.json, scaling.md and scaling.svg are written to the folder --output, each
whole or not at all, so that a run that is cut off keeps what it has. --dry-run prints every command instead.

Beside each time stands that of the model of docs/distributed.md, with its error:

    a step           t = t_1 / P + 2 V (P - 1) / (P^2 B) + c n^3 / P + t_0,   V = 4 n^3 bytes
    a transform      t = t_1 / P + k V (P - 1) / (P^2 B),                     V the bytes of the spectrum, k exchanges

t_1 is what was measured on one rank, or, where that lacks the memory, on one rank with another n, times the ratio of the
numbers of points; B is the measured rate of exchanges on P ranks.
"""

import argparse
import json
import math
import os
import platform
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {
    "exchange": "bench/distributed/exchange_table",
    "transforms": "bench/fft/slab_table",
    "steps": "bench/nbody/ranks_table",
}

# The first side of each list is the most important one, the last ones may not fit: simulations over ranks have 2^32 particles at
# most. Exchanges have the two sizes of the table: a latency and a rate. Weak scaling keeps weak^3 particles on each rank.
SIZES = {
    "gpus": {
        "exchange": (8, 256 << 20),
        "transforms": (1024, 512, 2048),
        "particles": (1024, 512, 1600, 2048),
        "weak": 512,
        "steps": 10,
    },
    "cores": {"exchange": (8, 16 << 20), "transforms": (256, 128, 512), "particles": (256, 128, 512), "weak": 128, "steps": 5},
    "small": {"exchange": (8, 64 << 10), "transforms": (16,), "particles": (16,), "weak": 16, "steps": 3},
}

# c and t_0 of two H200s (docs/distributed.md); for ranks of cores they are 0 unless options say otherwise.
H200_PICOSECONDS, H200_MILLISECONDS = 8.6, 1.1


def fail(message):
    print(f"scaling.py: error: {message}", file=sys.stderr)
    sys.exit(2)


# What is there.


def gpus_there():
    """The GPUs that programs see, as far as NVIDIA's or AMD's tools tell."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", os.environ.get("HIP_VISIBLE_DEVICES"))
    if visible is not None:
        return len([word for word in visible.split(",") if word.strip()])
    for command, begin in ((["nvidia-smi", "-L"], "GPU "), (["rocminfo"], "  Device Type:             GPU")):
        try:
            text = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
        except (OSError, subprocess.TimeoutExpired):
            continue
        return sum(line.startswith(begin) for line in text.splitlines())
    return 0


def is_for_device(build):
    """Whether a build computes on GPUs."""
    try:
        cache = (build / "CMakeCache.txt").read_text()
    except OSError:
        return False
    return any(
        f"COIR_REQUIRE_BACKEND:{kind}={name}\n" in cache for kind in ("STRING", "UNINITIALIZED") for name in ("CUDA", "HIP")
    )


def cores_there():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parse_arguments():
    def counts(text):
        numbers = sorted({int(word) for word in text.split(",")})
        if not numbers or numbers[0] < 1:
            raise argparse.ArgumentTypeError(f"numbers of ranks must be 1 or more, not {text}")
        return numbers

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--build", type=Path, help="the build that is measured (default: build/cuda-mpi, else build/openmp-mpi)"
    )
    parser.add_argument("--output", type=Path, default=Path("scaling"), help="the folder of the results (default: scaling)")
    parser.add_argument(
        "--sizes", choices=SIZES, help="default: gpus where there are GPUs, else cores, a quarter along each side"
    )
    parser.add_argument("--gpus", type=int, help="how many GPUs there are, 0 to compute on cores (default: those of this host)")
    parser.add_argument(
        "--ranks", type=counts, help="numbers of ranks, such as 1,2 (default: 1,2,4,8 as far as there are GPUs or cores)"
    )
    parser.add_argument("--threads", type=int, help="of a rank on cores (default: the cores shared out among the most ranks)")
    parser.add_argument("--minutes", type=float, default=8, help="that all of it may take (default: 8)")
    parser.add_argument("--case-seconds", type=float, default=90, help="after which a case is ended (default: 90)")
    parser.add_argument("--runs", type=int, default=3, help="of each case, while time is left (default: 3)")
    parser.add_argument(
        "--launch",
        default="mpirun --oversubscribe --bind-to none -n {ranks}",
        help="what starts programs on several ranks (default: %(default)s)",
    )
    parser.add_argument("--dry-run", action="store_true", help="only print the commands, in their order")
    model = parser.add_argument_group("parameters of the model")
    model.add_argument(
        "--per-particle-ps",
        type=float,
        help=f"c, picoseconds per particle of a rank (default: {H200_PICOSECONDS} on GPUs, 0 on cores)",
    )
    model.add_argument(
        "--fixed-ms", type=float, help=f"t_0, milliseconds of a step (default: {H200_MILLISECONDS} on GPUs, 0 on cores)"
    )
    model.add_argument("--rate-gbs", type=float, help="B, GB/s each way (default: as measured)")
    options = parser.parse_args()

    if options.build is None:
        options.build = next(
            (ROOT / "build" / name for name in ("cuda-mpi", "openmp-mpi") if (ROOT / "build" / name).exists()),
            ROOT / "build/cuda-mpi",
        )
    options.build = options.build.absolute()
    if options.gpus is None:
        options.gpus = gpus_there() if is_for_device(options.build) else 0
    elif options.gpus > 0 and not options.dry_run and not is_for_device(options.build):
        fail(f"{options.build} computes on cores: name a build of the preset cuda-mpi by --build, or say --gpus 0")
    if options.sizes is None:
        options.sizes = "gpus" if options.gpus else "cores"
    if options.ranks is None:
        places = options.gpus or max(cores_there(), 2 if options.sizes == "small" else 1)
        options.ranks = [ranks for ranks in (1, 2, 4, 8) if ranks <= places]
    if options.threads is None:
        options.threads = max(1, cores_there() // options.ranks[-1])
    if options.per_particle_ps is None:
        options.per_particle_ps = H200_PICOSECONDS if options.gpus else 0
    if options.fixed_ms is None:
        options.fixed_ms = H200_MILLISECONDS if options.gpus else 0
    if options.minutes <= 0 or options.runs < 1 or options.threads < 1 or options.case_seconds <= 0:
        fail("--minutes, --runs, --threads and --case-seconds must be above 0")
    try:
        options.launch.format(ranks=1)
    except (KeyError, IndexError, ValueError):
        fail(f"--launch may have {{ranks}} and no other braces, not {options.launch}")
    return options


# What is run.


@dataclass
class Case:
    """One start of a program on so many ranks."""

    program: str
    ranks: int
    arguments: tuple
    about: str
    seconds: list = field(default_factory=list)  # that its runs took, start and end included
    problem: str = ""
    is_left_out: bool = False  # of all its rows the program says why they can't be


def weak_side(side, ranks):
    """Particles along a side of which each rank has about side^3: the nearest even number without prime factors above 5, and
    of a multiple of side / 32."""

    def is_smooth(number):
        for factor in (2, 3, 5):
            while number % factor == 0:
                number //= factor
        return number == 1

    step, exact = max(2, side // 32), side * ranks ** (1 / 3)
    near = [step * k for k in range(1, 2 * math.ceil(exact / step) + 1)]
    return min((number for number in near if is_smooth(number)), key=lambda number: abs(number - exact))


def cases_of(options):
    """All cases, the important ones first."""
    sizes = SIZES[options.sizes]
    one, *several = options.ranks if options.ranks[0] == 1 else [None, *options.ranks]
    order = ([] if one is None else [1]) + several[::-1]
    cases = {}

    def add(program, ranks, about, *arguments):
        arguments = (*map(str, arguments), "--json", *([] if options.gpus else ["--host"]))
        cases.setdefault(
            (program, ranks, arguments), Case(program, ranks, arguments, f"{about} on {ranks} rank{'s' * (ranks > 1)}")
        )

    def transforms(side, kinds):
        for ranks in order:
            add(
                "transforms",
                ranks,
                f"transforms of {side}^3 ({kinds})",
                "--sizes",
                side,
                "--cases",
                kinds + ",plan" * (ranks == 1),
            )

    def steps(side, ranks):
        add("steps", ranks, f"steps of {side}^3 particles", "--sizes", side, "--steps", sizes["steps"])

    for ranks in several[::-1]:
        add("exchange", ranks, "exchanges", "--sizes", ",".join(map(str, sizes["exchange"])))
    sides, particles = sizes["transforms"], sizes["particles"]
    transforms(sides[0], "real,filter,complex")
    for ranks in order:
        steps(particles[0], ranks)
    for ranks in order:
        steps(weak_side(sizes["weak"], ranks), ranks)
    for n in range(1, max(len(sides), len(particles))):
        for side in sides[n : n + 1]:
            transforms(side, "real")
        for side in particles[n : n + 1]:
            for ranks in order:
                steps(side, ranks)
    return list(cases.values())


def command_of(case, options):
    program = [str(options.build / PROGRAMS[case.program]), *case.arguments]
    return program if case.ranks == 1 else shlex.split(options.launch.format(ranks=case.ranks)) + program


def environment_of(options):
    """The variables that are set unless they are already."""
    wanted = {}
    if options.gpus:
        wanted["NCCL_NVLS_ENABLE"] = "0"  # multicast: sends and receives don't use it, and it takes memory
    else:
        # Ranks that wait give their core to others, which there may be.
        wanted |= {"OMP_NUM_THREADS": str(options.threads), "OMP_PROC_BIND": "false", "OMPI_MCA_mpi_yield_when_idle": "1"}
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # as in containers, whose processes mayn't read each other's memory
        wanted |= {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        }
    return {name: value for name, value in wanted.items() if name not in os.environ}


def end(process):
    """Ends a launcher and with it its ranks."""
    for number, patience in ((signal.SIGTERM, 8), (signal.SIGKILL, 8)):
        try:
            os.killpg(process.pid, number)
            process.wait(patience)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            pass


def run(command, environment, seconds):
    """(the rows that a command printed, why it isn't whole or None, seconds)."""
    begin, problem = time.monotonic(), None
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        try:
            process = subprocess.Popen(
                command,
                stdout=out,
                stderr=err,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        except OSError as error:
            return [], str(error), 0
        try:
            if process.wait(seconds) != 0:
                problem = f"ended with code {process.returncode}"
        except subprocess.TimeoutExpired:
            problem = f"ended after {seconds:.0f} s, the time that was left for it"
        finally:
            if process.poll() is None:
                end(process)
        out.seek(0), err.seek(0)
        rows = []
        for line in out.read().splitlines():
            try:
                if line.startswith("{"):
                    rows.append(json.loads(line))
            except ValueError:
                pass  # cut off
        if problem:
            said = [line for line in err.read().splitlines() if line.strip()]
            of_ours = [line for line in said if ": error: " in line]
            problem += f": {(of_ours or said)[0].strip()}" if said else ""
    return rows, problem, time.monotonic() - begin


# What comes of it.


class Results:
    """All rows that programs printed, by what they measure."""

    def __init__(self):
        self.runs = {}  # (what, n or bytes, ranks): rows
        self.left_out = {}  # the same: why

    def add(self, case, rows):
        for row in rows:
            key = (row["what"], row.get("n", row.get("bytes")), case.ranks)
            if "skipped" in row:
                self.left_out[key] = row["skipped"]
            else:
                self.runs.setdefault(key, []).append(row)

    def median(self, key, name="seconds"):
        rows = self.runs.get(key)
        return statistics.median(row[name] for row in rows) if rows else None

    def sizes(self, what):
        return sorted({key[1] for key in self.runs if key[0] == what})

    def ranks(self, what, size):
        return sorted(key[2] for key in self.runs if key[:2] == (what, size))


PLAN = "plan, "
TRANSFORMS = {  # what: its name, complex numbers of the spectrum of n^3, exchanges
    "real forward": ("R2C", lambda n: n * n * (n // 2 + 1), 1),
    "real backward": ("C2R", lambda n: n * n * (n // 2 + 1), 1),
    "filter": ("filter", lambda n: n * n * (n // 2 + 1), 2),
    "complex forward": ("C2C forward", lambda n: n**3, 1),
    "complex backward": ("C2C backward", lambda n: n**3, 1),
}


class Table:
    """The figures of a run so far."""

    def __init__(self, options, results):
        self.options, self.results = options, results
        sizes = SIZES[options.sizes]
        self.largest_message = sizes["exchange"][-1]
        self.exchanges = self.exchange_rows()
        self.transforms = [row for what in TRANSFORMS for n in results.sizes(what) for row in self.strong_rows(what, n)]
        self.strong = [row for n in results.sizes("step") if n in sizes["particles"] for row in self.strong_rows("step", n)]
        self.weak = self.weak_rows(sizes["weak"])

    def exchange_rows(self):
        rows = []
        for size in self.results.sizes("exchange"):
            for ranks in self.results.ranks("exchange", size):
                key = ("exchange", size, ranks)
                ring, each = (self.results.median(key, name) for name in ("ring_seconds", "all_seconds"))
                rows.append(
                    {
                        "bytes": size,
                        "ranks": ranks,
                        "runs": len(self.results.runs[key]),
                        "ring_seconds": ring,
                        "all_seconds": each,
                        "ring_rate": size / ring,
                        "all_rate": self.results.median(key, "all_bytes") / each,
                    }
                )
        return rows

    def rate(self, ranks):
        """Bytes that leave a rank in a second of an exchange, or None."""
        if self.options.rate_gbs:
            return 1e9 * self.options.rate_gbs
        return next(
            (row["all_rate"] for row in self.exchanges if (row["bytes"], row["ranks"]) == (self.largest_message, ranks)), None
        )

    def on_one(self, what, n):
        """(seconds on one rank, whether they are those of another n), by the faster of slab and plan; or (None, False)."""

        def measured(side):
            both = [self.results.median((name, side, 1)) for name in (what, PLAN + what)]
            return min((seconds for seconds in both if seconds), default=None)

        if seconds := measured(n):
            return seconds, False
        others = [side for side in self.results.sizes(what) + self.results.sizes(PLAN + what) if measured(side)]
        if not others:
            return None, False
        near = min(others, key=lambda side: abs(math.log(side / n)))
        return measured(near) * (n / near) ** 3, True

    def model(self, what, n, ranks):
        """Seconds, or None where t_1 or B is unknown."""
        one, _ = self.on_one(what, n)
        rate = self.rate(ranks)
        if one is None or rate is None or ranks == 1:
            return None
        crossing = (ranks - 1) / ranks**2 / rate
        if what != "step":
            _, numbers, exchanges = TRANSFORMS[what]
            return one / ranks + exchanges * 8 * numbers(n) * crossing
        particles = n**3
        return (
            one / ranks
            + 2 * 4 * particles * crossing
            + 1e-12 * self.options.per_particle_ps * particles / ranks
            + 1e-3 * self.options.fixed_ms
        )

    def row(self, what, n, ranks):
        key = (what, n, ranks)
        runs = self.results.runs[key]
        seconds, sent, rate = (self.results.median(key), max(run["bytes_sent"] for run in runs), self.rate(ranks))
        modelled = self.model(what, n, ranks)
        return {
            "what": what,
            "n": n,
            "ranks": ranks,
            "runs": len(runs),
            "rounds": sum(run["rounds"] for run in runs),
            "seconds": seconds,
            "bytes_sent": sent,
            "share_of_rate": sent / seconds / rate if rate and ranks > 1 else None,
            "model_seconds": modelled,
            "model_error": modelled / seconds - 1 if modelled else None,
            "bytes_predicted": max(run["bytes_predicted"] for run in runs),
            "bytes_held": max(run["bytes_held"] for run in runs),
        }

    def strong_rows(self, what, n):
        """One n on more and more ranks: how many times as fast as one, or as the fewest that were measured."""
        rows = []
        all_ranks = self.results.ranks(what, n)
        one, is_scaled = self.on_one(what, n)
        base = (all_ranks[0], self.results.median((what, n, all_ranks[0]))) if one is None or is_scaled else (1, one)
        for name, ranks in [(PLAN + what, 1), *((what, ranks) for ranks in all_ranks)]:
            if (name, n, ranks) in self.results.runs:
                row = self.row(name, n, ranks)
                row |= {"against_ranks": base[0], "speed_up": base[1] / row["seconds"]}
                rows.append(row | {"efficiency": row["speed_up"] * base[0] / ranks})
        return rows

    def weak_rows(self, side):
        """About as many particles on each rank: the particles that each rank moves in a second, against one rank."""
        rows = []
        for ranks in self.options.ranks:
            n = weak_side(side, ranks)
            if ("step", n, ranks) in self.results.runs:
                row = self.row("step", n, ranks)
                row["particles_per_second"] = n**3 / row["seconds"]
                base = rows[0] if rows else row
                row |= {"against_ranks": base["ranks"], "speed_up": row["particles_per_second"] / base["particles_per_second"]}
                rows.append(row | {"efficiency": row["speed_up"] * base["ranks"] / ranks})
        return rows

    def fit(self):
        """(c, t_0), seconds, with which the model has the two largest steps on two ranks exactly; or None."""
        sides = [n for n in self.results.sizes("step") if all(("step", n, ranks) in self.results.runs for ranks in (1, 2))][-2:]
        rate = self.rate(2)
        if len(sides) < 2 or not rate:
            return None
        left = [self.results.median(("step", n, 2)) - self.results.median(("step", n, 1)) / 2 - 2 * n**3 / rate for n in sides]
        halves = [n**3 / 2 for n in sides]
        per_particle = (left[1] - left[0]) / (halves[1] - halves[0])
        return per_particle, left[0] - per_particle * halves[0]


def machine_of(options, results):
    run = next((rows[0] for key, rows in results.runs.items() if key[2] > 1), None) or next(
        (rows[0] for rows in results.runs.values()), {}
    )
    return {
        "host": platform.node(),
        "device": run.get("device"),
        "transport": run.get("transport"),
        "gpus": options.gpus,
        "cores": cores_there(),
        "threads": None if options.gpus else options.threads,
    }


def number(value, digits=3):
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def percent(value, sign=""):
    return "" if value is None else f"{100 * value:{sign}.0f} %"


def gigabytes(value):
    return f"{value / 1e9:.3g}"


def markdown_table(heads, rows):
    return "\n".join(["| " + " | ".join(line) + " |" for line in (heads, ["---"] * len(heads), *rows)])


def markdown_of(table, left_out, state, machine):
    options = table.options
    threads = f"{machine['threads']} thread{'s' * (options.gpus == 0 and machine['threads'] > 1)} a rank"
    places = f"{options.gpus} GPUs" if options.gpus else f"{machine['cores']} cores, {threads}"
    parts = [
        "# Scaling of coir on one host",
        f"{machine['device']}, {places}, transport {machine['transport']}; {state}. "
        "Times are medians of runs, each the median of rounds that all ranks begin together, the slowest rank's. Bytes sent and held are those of the rank with most.",
        "![Times as fast as one rank](scaling.svg)",
        "Dashed lines are the model, dotted ones what would be ideal.",
    ]

    def section(title, heads, rows):
        if rows:
            parts.extend([f"## {title}", markdown_table(heads, rows)])

    def timing(row, name):
        against = "" if row["against_ranks"] == 1 else f" of {row['against_ranks']} ranks"
        return [
            name,
            str(row["ranks"]),
            f"{row['runs']} / {row['rounds']}",
            number(1e3 * row["seconds"]),
            f"{row['speed_up']:.2f}{against}",
            percent(row["efficiency"]),
            number(row["bytes_sent"] / 1e6),
            percent(row["share_of_rate"]),
            number(1e3 * row["model_seconds"]) if row["model_seconds"] else "",
            percent(row["model_error"], "+"),
            gigabytes(row["bytes_predicted"]),
            gigabytes(row["bytes_held"]),
        ]

    heads = [
        "ranks",
        "runs / rounds",
        "ms",
        "times one rank",
        "efficiency",
        "MB sent per rank",
        "of the link's rate",
        "model, ms",
        "model's error",
        "GB predicted per rank",
        "GB held",
    ]
    section(
        "Exchanges",
        ["bytes", "ranks", "runs", "ring, us", "ring, GB/s", "all to all, us", "all to all, GB/s"],
        [
            [
                str(row["bytes"]),
                str(row["ranks"]),
                str(row["runs"]),
                number(1e6 * row["ring_seconds"]),
                number(row["ring_rate"] / 1e9),
                number(1e6 * row["all_seconds"]),
                number(row["all_rate"] / 1e9),
            ]
            for row in table.exchanges
        ],
    )

    def name_of(row):
        plan = row["what"].startswith(PLAN)
        return f"{TRANSFORMS[row['what'].removeprefix(PLAN)][0]} {row['n']}^3" + ", plan in place" * plan

    section("Transforms, float", ["what", *heads], [timing(row, name_of(row)) for row in table.transforms])
    section(
        "Steps, mesh ratio 1, float: strong scaling",
        ["particles", *heads],
        [timing(row, f"{row['n']}^3") for row in table.strong],
    )
    section(
        f"Steps: weak scaling, about {SIZES[options.sizes]['weak']}^3 particles on each rank",
        ["particles", *heads],
        [timing(row, f"{row['n']}^3") for row in table.weak],
    )
    rate = f"{options.rate_gbs:g} GB/s" if options.rate_gbs else f"the rate of {table.largest_message} bytes all to all"
    model = [
        "Steps: t = t_1 / P + 2 V (P - 1) / (P^2 B) + c n^3 / P + t_0 with V = 4 n^3 bytes, "
        f"c = {options.per_particle_ps:g} ps and t_0 = {options.fixed_ms:g} ms; transforms have the first two terms. B is {rate}."
    ]
    scaled = sorted(
        {
            f"{row['n']}^3"
            for row in table.transforms + table.strong + table.weak
            if row["model_seconds"] and table.on_one(row["what"], row["n"])[1]
        }
    )
    if scaled:
        model.append(f"t_1 of {', '.join(scaled)} is that of the nearest size that one rank made, times the ratio of points.")
    if fit := table.fit():
        model.append(f"What steps on two ranks leave for c and t_0 is {1e12 * fit[0]:.3g} ps and {1e3 * fit[1]:.3g} ms.")
    parts.extend(["## Model", " ".join(model)])
    section("Left out", ["case", "why"], left_out)
    return "\n\n".join(parts) + "\n"


# The picture.

COLOURS = ("#2166ac", "#b2182b", "#1b7837", "#762a83", "#b35806", "#01665e")


def panel(x, title, lines, ranks, highest, ideal):
    """A panel from x on: lines of (label, points, modelled points) against the number of ranks, on a logarithmic axis.

    ideal: whether as many times as fast as ranks are many would be ideal, on a logarithmic axis, too, in place of 1.
    """
    wide, high, left, top = 300, 240, 44, 40
    last = max(ranks[-1], 2)

    def at_x(count):
        return x + left + wide * math.log(count) / math.log(last)

    def at_y(value):
        share = math.log(max(value, 0.5) / 0.5) / math.log(highest / 0.5) if ideal else value / highest
        return top + high * (1 - min(max(share, 0), 1))

    def path(points, colour, style=""):
        places = " ".join(f"{at_x(a):.1f},{at_y(b):.1f}" for a, b in points)
        return f'<polyline fill="none" stroke="{colour}" {style} points="{places}"/>'

    svg = [f'<text x="{x + left}" y="{top - 16}" font-weight="bold">{title}</text>']
    ticks = [0.5 * 2**k for k in range(9) if 0.5 * 2**k <= highest] if ideal else [highest * k / 6 for k in range(7)]
    for value in ticks:
        svg.append(path([(1, value), (last, value)], "#ddd"))
        svg.append(f'<text x="{x + left - 6}" y="{at_y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    for count in ranks:
        svg.append(f'<text x="{at_x(count):.1f}" y="{top + high + 18}" text-anchor="middle">{count}</text>')
    svg.append(f'<text x="{x + left + wide / 2}" y="{top + high + 36}" text-anchor="middle">ranks</text>')
    svg.append(path([(1, 1), (last, last if ideal else 1)], "#999", 'stroke-dasharray="2 3"'))
    for n, (label, points, modelled) in enumerate(lines):
        colour = COLOURS[n % len(COLOURS)]
        svg.append(path(points, colour, 'stroke-width="2"'))
        if modelled:
            svg.append(path(modelled, colour, 'stroke-dasharray="6 4"'))
        svg.extend(
            f'<circle cx="{at_x(a):.1f}" cy="{at_y(b):.1f}" r="3.5" fill="{colour}">'
            f"<title>{label}, {a} ranks: {b:.3g}</title></circle>"
            for a, b in points
        )
        svg.append(f'<text x="{x + left + 8}" y="{top + high + 58 + 16 * n}" fill="{colour}">{label}</text>')
    return svg


def svg_of(table):
    """How many times as fast as one rank, and the efficiency of weak scaling; dashed what the model says, dotted the ideal."""

    def lines(rows, label, value):
        groups = {}
        for row in rows:
            if not row["what"].startswith(PLAN):
                groups.setdefault(label(row), []).append(row)
        made = []
        for name, group in groups.items():
            points = [(row["ranks"], row[value]) for row in group]
            modelled = [
                (row["ranks"], row[value] * row["seconds"] / row["model_seconds"]) for row in group if row["model_seconds"]
            ]
            made.append((name, points, modelled and [(1, 1)] * (points[0][0] == 1) + modelled))
        return made

    ranks = table.options.ranks
    highest = 2 * max(ranks[-1], 2)
    first = SIZES[table.options.sizes]["transforms"][0]
    shown = [
        row
        for row in table.transforms
        if row["what"] == "real forward" or (row["n"] == first and row["what"] in ("filter", "complex forward"))
    ]
    panels = [
        (
            "Transforms, times one rank",
            lines(shown, lambda row: f"{TRANSFORMS[row['what']][0]} {row['n']}^3", "speed_up"),
            highest,
            True,
        ),
        ("Steps, times one rank", lines(table.strong, lambda row: f"{row['n']}^3 particles", "speed_up"), highest, True),
        (
            "Steps, weak scaling, efficiency",
            lines(table.weak, lambda row: f"{SIZES[table.options.sizes]['weak']}^3 particles a rank", "efficiency"),
            1.2,
            False,
        ),
    ]
    below = 350 + 16 * max(len(lines) for _, lines, _, _ in panels)
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1110 {below}" font-family="sans-serif" font-size="12">',
        f'<rect width="1110" height="{below}" fill="#fff"/>',
    ]
    for n, (title, drawn, most, ideal) in enumerate(panels):
        svg.extend(panel(10 + 365 * n, title, drawn, ranks, most, ideal))
    return "\n".join([*svg, "</svg>", ""])


def write(path, text):
    """A file that is there whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text)
    part.replace(path)


def write_results(options, results, cases, state):
    table = Table(options, results)
    machine = machine_of(options, results)
    left_out = [[f"{what} {n}^3 on {ranks} rank{'s' * (ranks > 1)}", why] for (what, n, ranks), why in results.left_out.items()]
    left_out += [[case.about, case.problem] for case in cases if case.problem]
    document = {
        "machine": machine,
        "state": state,
        "sizes": options.sizes,
        "ranks": options.ranks,
        "model": {
            "per_particle_seconds": 1e-12 * options.per_particle_ps,
            "fixed_seconds": 1e-3 * options.fixed_ms,
            "rate": {ranks: table.rate(ranks) for ranks in options.ranks if ranks > 1},
            "fit": table.fit(),
        },
        "exchanges": table.exchanges,
        "transforms": table.transforms,
        "strong": table.strong,
        "weak": table.weak,
        "left_out": [dict(zip(("case", "why"), row)) for row in left_out],
        "runs": [{**row, "ranks": key[2]} for key, rows in results.runs.items() for row in rows],
    }
    write(options.output / "scaling.json", json.dumps(document, indent=1) + "\n")
    write(options.output / "scaling.svg", svg_of(table))
    write(options.output / "scaling.md", markdown_of(table, left_out, state, machine))


def dry_run(options, cases):
    print(f"cmake --build {shlex.quote(str(options.build))} --target scaling_programs")
    for name, value in environment_of(options).items():
        print(f"export {name}={value}")
    for case in cases:
        print(f"# {case.about}\n{shlex.join(command_of(case, options))}")
    print(
        f"# {len(cases)} cases, each up to {options.runs} times within {options.minutes:g} minutes, results in {options.output}"
    )


def measure(options, cases):
    """Whether no case failed."""
    begin = time.monotonic()
    least = min(10, 6 * options.minutes)  # seconds that are worth a start
    reserve = min(15, 3 * options.minutes)  # to end what hangs
    left = lambda: begin + 60 * options.minutes - reserve - time.monotonic()
    environment, results, failures = environment_of(options), Results(), {}
    for number_of_run in range(1, options.runs + 1):
        for case in cases:
            if number_of_run > 1 and (case.problem or case.is_left_out or not case.seconds):
                continue
            if failures.get(case.ranks, 0) >= 2:
                case.problem = f"two cases on {case.ranks} ranks failed one after the other"
                continue
            if left() < max(least, 1.2 * max(case.seconds, default=0)):
                if number_of_run == 1:
                    case.problem = f"the {options.minutes:g} minutes were over (--minutes)"
                continue
            rows, problem, seconds = run(command_of(case, options), environment, min(left(), options.case_seconds))
            results.add(case, rows)
            case.seconds.append(seconds)
            case.is_left_out = bool(rows) and all("skipped" in row for row in rows)
            failures[case.ranks] = 0 if rows or not problem else failures.get(case.ranks, 0) + 1
            if problem:
                case.problem = problem if number_of_run == 1 else f"run {number_of_run} {problem}"
            result = problem or f"{len(rows)} rows in {seconds:.1f} s"
            print(f"{time.monotonic() - begin:6.1f} s  run {number_of_run}, {case.about}: {result}", flush=True)
            write_results(options, results, cases, f"cut off after {time.monotonic() - begin:.0f} s")
    write_results(options, results, cases, f"measured in {time.monotonic() - begin:.0f} s")
    return not any("ended with code" in case.problem or "failed" in case.problem for case in cases)


def main():
    options = parse_arguments()
    cases = cases_of(options)
    if options.dry_run:
        return dry_run(options, cases)
    missing = [name for name in PROGRAMS.values() if not (options.build / name).exists()]
    if missing:
        fail(f"{options.build} has no {missing[0]}: cmake --build {options.build} --target scaling_programs")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        options.output.mkdir(parents=True, exist_ok=True)
        whole = measure(options, cases)
        print((options.output / "scaling.md").read_text())
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        fail(str(error))
    sys.exit(0 if whole else 1)


if __name__ == "__main__":
    main()
