#!/usr/bin/env python3
"""Sends SIGINT, SIGTERM and SIGHUP to applications at random moments of a run.

Each must end within a second, with one line and the signal's exit code, and leave files that are whole or as they were.

    signals.py --apps build/openmp/apps --app jacobi --count 100
"""

import argparse
import os
import pathlib
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import execution
import files

PHOTO = "escape --size {side}x{side} --iterations 60 --quiet --no-smooth --output photo.npy"
# For each application what runs before, its arguments, and what it writes.
RUNS = {
    "info": (None, "--measure", ""),
    "jacobi": (PHOTO, "photo.npy --precision double --sweeps 40 --output u.png --output-laplacian b.npy --report run.json",
               "u.png b.npy run.json"),
    "escape": (None, "--size {side}x{side} --scheme arrays --iterations 20 --output u.png --report run.json", "u.png run.json"),
    "queue": (None, "jobs.txt --forecast --gpus 1 --picture waits.svg --report waits.json", "waits.svg waits.json"),
    "nbody": (None, "--particles {particles} --steps 6 --stepper bullfrog --checkpoint 2 --deterministic --pixels {pixels} --output run "
                    "--report run.json", "run/config.toml run/checkpoint.hdf5 run/power_a1.000.txt run/slab_a1.000.png run/slab_a1.000.npy "
                                         "run/projection_a1.000.png run/projection_a1.000.npy run.json"),
    "field": ("escape --size 64x64 --quiet --output photo.png",
              "photo.png --side {cells} --steps 4 --a-start 0.1 --iterations 20 --deterministic --pixels {pixels} --output run --report run.json",
              "run/noise.npy run/universe.toml run/density.npy run/start.png run/frame_01.png run/frame_02.png run/frame_03.png "
              "run/frame_04.png run/frame_05.png run/end_and_target.png run/strip.png run.json")}
SIZES = {"side": 1500, "particles": 32, "pixels": 250, "cells": 16, "jobs": 100_000}


def answers(process, number):
    """Whether the process catches a signal by now: before its first line of code there is nobody to answer."""
    try:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        return bool(int(status.split("SigCgt:")[1].split()[0], 16) >> (number - 1) & 1)
    except (OSError, IndexError):
        return False


def start(command, folder):
    return subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def clean(folder, inputs):
    for path in folder.iterdir():
        if path.name not in inputs:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def is_whole(path, undisturbed):
    """Whether an output is that of a run to the end; reports hold times, checkpoints are those of any step, and noise the best so far."""
    if path.suffix == ".hdf5":
        return path.read_bytes()[-32:-16] == b"coir checksum 2\n"
    if path.suffix == ".json" or path.name == "noise.npy" or undisturbed is None:
        return execution.is_whole(str(path))
    return path.read_bytes() == undisturbed


def faults_of_files(folder, inputs, outputs, before, is_done):
    """What is wrong with the files that a run left, before which each output held `before`.

    outputs: {name: what an undisturbed run wrote, or None}
    """
    faults = []
    for name in outputs:
        path = folder / name
        if not path.exists():
            is_removed = path.name == "checkpoint.hdf5"  # that of an earlier run, where another one begins
            faults += [f"{name} isn't there"] if is_done or before and not is_removed else []
        elif path.read_bytes() == before:
            faults += [f"{name} isn't new"] if is_done else []
        elif not is_whole(path, outputs[name]):
            faults.append(f"{name} isn't whole")
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in inputs and name not in outputs:
            faults.append(f"there is {name}")
    return faults


def strike(rng, number, command, folder, inputs, outputs, length, seconds):
    """The faults of a run that gets a signal, and how long its answer took."""
    clean(folder, inputs)
    before = b"old" if number % 2 else b""  # whether there is something to lose
    for name in outputs if before else ():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(before)
    sent_signal = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[number % 3]
    process = start(command, folder)
    time.sleep(rng.uniform(0, length))
    answered = answers(process, sent_signal)
    sent = time.monotonic()
    process.send_signal(sent_signal)
    if number % 5 == 4:  # who is impatient sends it twice
        process.send_signal(sent_signal)
    errors = process.communicate(timeout=60)[1]
    took, code = time.monotonic() - sent, process.returncode
    faults = faults_of_files(folder, inputs, outputs, before, code == 0)
    if took > seconds:
        faults.append("it took too long")
    if code == 0 and errors or code < 0 and (answered or -code != sent_signal or errors):
        faults.append("it ended in another way")
    elif code > 0 and (code != 128 + sent_signal or errors.count("\n") != 1 or ": error: stopped " not in errors):
        faults.append("it must end with one line and the signal's code")
    text = f"run {number}: {sent_signal.name}, code {code} after {took:.3f} s, {errors!r}: " + ", ".join(faults)
    return text if faults else "", took


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--apps", type=pathlib.Path, required=True, help="folder with info/coir-info and the others")
    parser.add_argument("--app", choices=RUNS, required=True)
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1, help="that an answer may take")
    options = parser.parse_args()
    rng = random.Random(options.seed)

    def command_of(app, arguments):
        return [str((options.apps / app / f"coir-{app}").resolve()), *shlex.split(arguments.format(**SIZES))]

    earlier, arguments, outputs = RUNS[options.app]
    outputs = dict.fromkeys(outputs.split())
    command = command_of(options.app, arguments)
    with tempfile.TemporaryDirectory(prefix="coir-signals-") as name:
        folder = pathlib.Path(name)
        if earlier is not None:
            subprocess.run(command_of(*earlier.split(" ", 1)), cwd=folder, check=True)
        if options.app == "queue":
            (folder / "jobs.txt").write_bytes(files.accounting(rng, SIZES["jobs"]))
        inputs = set(os.listdir(folder))
        for _ in range(2):  # the first one finds caches cold
            clean(folder, inputs)
            begin = time.monotonic()
            process = start(command, folder)
            errors = process.communicate()[1]
            length = time.monotonic() - begin
            faults = faults_of_files(folder, inputs, outputs, b"", True)
            if process.returncode != 0 or faults:
                sys.exit(f"undisturbed, it failed: {errors} {faults}")
        outputs = {name: (folder / name).read_bytes() for name in outputs}
        runs = [strike(rng, number, command, folder, inputs, outputs, length, options.seconds) for number in range(options.count)]
    for fault, _ in runs:
        print(fault, end="\n" if fault else "")
    print(f"{options.count} signals within {length:.2f} s, answered in {max(took for _, took in runs):.3f} s at most")
    sys.exit(any(fault for fault, _ in runs))


if __name__ == "__main__":
    main()
