#!/usr/bin/env python3
"""Measures how coir scales over the GPUs of one host, or over ranks that share its cores.

    cmake --build build/cuda-mpi --target scaling_programs
    bench/distributed/scaling.py --build build/cuda-mpi

Exchanges, slab transforms, steps of particles and of shallow water, and gradients through steps run
on 1, 2, 4 and 8 ranks (those there are), the important cases first, and all of them again while time
is left. After each case scaling.json and scaling.md
are written to the folder --output, so that a run that is cut off keeps what it has.
scaling_table.py makes them, and has the model. --dry-run prints every command instead.
"""

import argparse
import json
import math
import os
import platform
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from scaling_table import Results, Table, markdown_of

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = "mpirun --oversubscribe --bind-to none -n {ranks}"
PROGRAMS = {
    "exchange": "bench/distributed/exchange_table",
    "transforms": "bench/fft/slab_table",
    "steps": "bench/nbody/ranks_table",
    "shallow": "bench/shallow/shallow_table",
}


@dataclass
class Sizes:
    """The first side of a list is the most important one, the last ones may not fit."""

    exchange: tuple  # bytes: for a latency and for a rate
    transforms: tuple  # numbers along a side
    particles: tuple  # along a side; 2^32 in all at most
    weak: int  # weak^3 particles on each rank
    steps: int
    gradient: int  # particles along a side
    water: tuple  # columns, and rows on each rank


SIZES = {
    "gpus": Sizes((8, 256 << 20), (1024, 512, 2048), (1024, 512, 1600, 2048), 512, 10, 512, (14400, 3600)),
    "cores": Sizes((8, 16 << 20), (256, 128, 512), (256, 128, 512), 128, 5, 64, (1800, 900)),
    "small": Sizes((8, 64 << 10), (16,), (16,), 16, 3, 16, (32, 16)),
}



def fail(message):
    print(f"scaling.py: error: {message}", file=sys.stderr)
    sys.exit(2)


# What is there.


def gpus_there():
    """The GPUs that programs see, as far as NVIDIA's or AMD's tools tell."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", os.environ.get("HIP_VISIBLE_DEVICES"))
    if visible is not None:
        return len([word for word in visible.split(",") if word.strip()])
    tools = (["nvidia-smi", "-L"], "GPU "), (["rocminfo"], "  Device Type:             GPU")
    for command, begin in tools:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            continue
        return sum(line.startswith(begin) for line in done.stdout.splitlines())
    return 0


def is_for_device(build):
    """Whether a build computes on GPUs."""
    cache = build / "CMakeCache.txt"
    lines = cache.read_text().splitlines() if cache.exists() else []
    return any(line.startswith("COIR_REQUIRE_BACKEND:") and line.endswith(("=CUDA", "=HIP")) for line in lines)


def cores_there():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parse_arguments():
    def counts(text):
        numbers = sorted({int(word) for word in text.split(",")})
        if numbers[0] < 1:
            raise argparse.ArgumentTypeError(f"numbers of ranks must be 1 or more, not {text}")
        return numbers

    def positive(text):
        if float(text) <= 0:
            raise argparse.ArgumentTypeError(f"must be above 0, not {text}")
        return float(text)

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--build", type=Path, help="that is measured (default: build/cuda-mpi, or else build/openmp-mpi)")
    add("--output", type=Path, default=Path("scaling"), help="the folder of the results (default: %(default)s)")
    add("--sizes", choices=SIZES, help="default: gpus where there are GPUs, or else cores")
    add("--gpus", type=int, help="how many there are, 0 to compute on cores (default: those of this host)")
    add("--ranks", type=counts, help="such as 1,2 (default: 1,2,4,8 as far as there are GPUs or cores)")
    add("--threads", type=int, help="of a rank on cores (default: the cores over the most ranks)")
    add("--minutes", type=positive, default=8, help="that all of it may take (default: %(default)s)")
    add("--case-seconds", type=positive, default=90, help="after which a case is ended (default: %(default)s)")
    add("--runs", type=int, default=3, help="of each case, while time is left (default: %(default)s)")
    add("--launch", default=LAUNCH, help="what starts programs on several ranks (default: %(default)s)")
    add("--dry-run", action="store_true", help="only print the commands, in their order")
    add("--per-particle-ps", type=float, help="c of the model (default: from steps on two ranks)")
    add("--fixed-ms", type=float, help="t_0 of the model (default: from steps on two ranks)")
    add("--rate-gbs", type=float, help="B of the model, GB/s each way (default: as measured)")
    options = parser.parse_args()

    def default(name, value):
        if getattr(options, name) is None:
            setattr(options, name, value)

    built = [ROOT / "build" / name for name in ("cuda-mpi", "openmp-mpi")]
    default("build", next((path for path in built if path.exists()), built[0]))
    options.build = options.build.absolute()
    on_device = is_for_device(options.build)
    if options.gpus and not options.dry_run and not on_device:
        fail(f"{options.build} computes on cores: name a build of the preset cuda-mpi, or say --gpus 0")
    default("gpus", gpus_there() if on_device else 0)
    default("sizes", "gpus" if options.gpus else "cores")
    places = options.gpus or max(cores_there(), 2 if options.sizes == "small" else 1)
    default("ranks", [ranks for ranks in (1, 2, 4, 8) if ranks <= places])
    default("threads", max(1, cores_there() // options.ranks[-1]))
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
    """Particles along a side of which each rank has about side^3: the nearest even number without
    prime factors above 5, and of a multiple of side / 32."""

    def is_smooth(number):
        for factor in (2, 3, 5):
            while number % factor == 0:
                number //= factor
        return number == 1

    step, exact = max(2, side // 32), side * ranks ** (1 / 3)
    near = [step * k for k in range(1, 2 * math.ceil(exact / step) + 1)]
    return min(filter(is_smooth, near), key=lambda number: abs(number - exact))


def cases_of(options):
    """All cases, the important ones first."""
    sizes = SIZES[options.sizes]
    several = [ranks for ranks in options.ranks[::-1] if ranks > 1]
    order = [1] * (1 in options.ranks) + several  # the fewest and the most are the most telling
    cases = {}

    def add(program, ranks, about, *arguments):
        arguments = (*map(str, arguments), "--json", *([] if options.gpus else ["--host"]))
        case = Case(program, ranks, arguments, f"{about} on {ranks} rank{'s' * (ranks > 1)}")
        cases.setdefault((program, ranks, arguments), case)

    def transforms(side, kinds):
        for ranks in order:
            words = "--sizes", side, "--cases", kinds + ",plan" * (ranks == 1)
            add("transforms", ranks, f"transforms of {side}^3 ({kinds})", *words)

    def steps(side_of):
        for ranks in order:
            side = side_of(ranks)
            add("steps", ranks, f"steps of {side}^3 particles", "--sizes", side, "--steps", sizes.steps)

    for ranks in several:
        add("exchange", ranks, "exchanges", "--sizes", ",".join(map(str, sizes.exchange)))
    transforms(sizes.transforms[0], "real,filter,complex")
    steps(lambda ranks: sizes.particles[0])
    steps(lambda ranks: weak_side(sizes.weak, ranks))
    for ranks in order:
        about = f"gradients of {sizes.gradient}^3 particles"
        add("steps", ranks, about, "--gradient", "--sizes", sizes.gradient, "--steps", 2 * sizes.steps)
    columns, rows = sizes.water
    for ranks in order:
        about = f"shallow water of {columns} x {rows} cells a rank"
        add("shallow", ranks, about, "--columns", columns, "--rows", rows)
    for n in range(1, max(len(sizes.transforms), len(sizes.particles))):
        for side in sizes.transforms[n : n + 1]:
            transforms(side, "real")
        for side in sizes.particles[n : n + 1]:
            steps(lambda ranks: side)
    return list(cases.values())


def command_of(case, options):
    program = [str(options.build / PROGRAMS[case.program]), *case.arguments]
    if case.ranks == 1:
        return program
    return shlex.split(options.launch.replace("{ranks}", str(case.ranks))) + program


def environment_of(options):
    """The variables that are set unless they are already."""
    wanted = {}
    if options.gpus:
        # Multicast: sends and receives don't use it, and it takes memory.
        wanted["NCCL_NVLS_ENABLE"] = "0"
    else:
        # Ranks that wait give their core to others, which there may be.
        wanted |= {
            "OMP_NUM_THREADS": str(options.threads),
            "OMP_PROC_BIND": "false",
            "OMPI_MCA_mpi_yield_when_idle": "1",
        }
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # As in containers, whose processes mayn't read each other's memory.
        wanted |= {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        }
    return {name: value for name, value in wanted.items() if name not in os.environ}


def end(process):
    """Ends a launcher and with it its ranks."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            return process.wait(8)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


def rows_in(text):
    rows = []
    for line in text.splitlines():
        try:
            if line.startswith("{"):
                rows.append(json.loads(line))
        except ValueError:
            pass  # cut off
    return rows


def run(command, environment, seconds):
    """(the rows that a command printed, why it isn't whole or "", seconds)."""
    begin, problem = time.monotonic(), ""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
        try:
            process = subprocess.Popen(
                command, **streams, env={**os.environ, **environment}, start_new_session=True
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
        said = [line.strip() for line in err.read().splitlines() if line.strip()]
        of_ours = [line for line in said if ": error: " in line]
        if problem and said:
            problem += f": {(of_ours or said)[0]}"
        return rows_in(out.read()), problem, time.monotonic() - begin


def write(path, text):
    """A file that is there whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text)
    part.replace(path)


def write_results(options, results, cases, state):
    sizes = SIZES[options.sizes]
    weak = {ranks: weak_side(sizes.weak, ranks) for ranks in options.ranks}
    table = Table(options, results, sizes, weak)
    machine = {
        "host": platform.node(),
        "device": results.machine.get("device"),
        "transport": results.machine.get("transport"),
        "gpus": options.gpus,
        "cores": cores_there(),
        "threads": None if options.gpus else options.threads,
    }
    left_out = [
        [f"{what} {n}^3 on {ranks} rank{'s' * (ranks > 1)}", why]
        for (what, n, ranks), why in results.left_out.items()
    ] + [[case.about, case.problem] for case in cases if case.problem]
    document = {"machine": machine, "state": state, "sizes": options.sizes, "ranks": options.ranks}
    document |= table.document() | {"left_out": [dict(zip(("case", "why"), row)) for row in left_out]}
    write(options.output / "scaling.json", json.dumps(document, indent=1) + "\n")
    write(options.output / "scaling.md", markdown_of(table, left_out, state, machine))


def dry_run(options, cases):
    print(f"cmake --build {shlex.quote(str(options.build))} --target scaling_programs")
    for name, value in environment_of(options).items():
        print(f"export {name}={value}")
    for case in cases:
        print(f"# {case.about}\n{shlex.join(command_of(case, options))}")
    print(f"# {len(cases)} cases, each up to {options.runs} times within {options.minutes:g} minutes")


def measure(options, cases):
    """Whether no case failed."""
    begin = time.monotonic()
    reserve = min(15, 3 * options.minutes)  # seconds to end what hangs
    least = min(10, 6 * options.minutes)  # seconds that are worth a start
    environment, results, failures = environment_of(options), Results(), {}
    for number in range(1, options.runs + 1):
        for case in cases:
            left = begin + 60 * options.minutes - reserve - time.monotonic()
            if number > 1 and (case.problem or case.is_left_out):
                continue
            if failures.get(case.ranks, 0) >= 2:
                case.problem = f"two cases on {case.ranks} ranks failed one after the other"
                continue
            if left < max(least, 1.2 * max(case.seconds, default=0)):
                if number == 1:
                    case.problem = f"the {options.minutes:g} minutes were over (--minutes)"
                continue
            limit = min(left, options.case_seconds)
            rows, problem, seconds = run(command_of(case, options), environment, limit)
            rows = results.add(case.ranks, rows)
            case.seconds.append(seconds)
            case.is_left_out = bool(rows) and all("skipped" in row for row in rows)
            failures[case.ranks] = failures.get(case.ranks, 0) + 1 if problem and not rows else 0
            case.problem = f"run {number} {problem}" if problem and number > 1 else problem
            now = time.monotonic() - begin
            what = problem or f"{len(rows)} rows in {seconds:.1f} s"
            print(f"{now:6.1f} s  run {number}, {case.about}: {what}", flush=True)
            write_results(options, results, cases, f"cut off after {now:.0f} s")
    write_results(options, results, cases, f"measured in {time.monotonic() - begin:.0f} s")
    return not any("ended with code" in case.problem or "failed" in case.problem for case in cases)


def main():
    options = parse_arguments()
    cases = cases_of(options)
    if options.dry_run:
        return dry_run(options, cases)
    missing = [name for name in PROGRAMS.values() if not (options.build / name).exists()]
    if missing:
        build = f"cmake --build {options.build} --target scaling_programs"
        fail(f"{options.build} has no {missing[0]}: {build}")
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
