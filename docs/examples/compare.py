#!/usr/bin/env python3
"""Compares what an example prints with what NumPy's lines print, name by name.

usage: compare.py PROGRAM NAME.txt      runs PROGRAM and compares with NAME.txt, NumPy's answers
       compare.py --numpy [--write]     runs each NN_name.py and compares with NN_name.txt, or writes it (needs NumPy)

Lines are "name value", in the .py also "name value +- tolerance"; without one, it is 1e-7 of the value.
"""

import pathlib
import re
import subprocess
import sys

TOLERANCE = 1e-7


def read(text):
    """{name: (value, tolerance)} of the lines that name a value; others, such as Kokkos' warnings, are passed over."""
    values = {}
    for line in text.splitlines():
        match = re.fullmatch(r"(\w+) ([-+.\w]+)(?: \+- (\S+))?", line)
        if match:
            value = float(match[2])
            values[match[1]] = value, float(match[3]) if match[3] else TOLERANCE * abs(value)
    return values


def differences(found, expected):
    """One line for each difference."""
    if found.keys() != expected.keys():
        yield f"the names differ: {' '.join(found)}, but {' '.join(expected)} was expected"
    for name in found.keys() & expected.keys():
        value, (right, tolerance) = found[name][0], expected[name]
        if not abs(value - right) <= tolerance:  # NaN is no answer
            yield f"{name} is {value!r}, but {right!r} within {tolerance:.3g} was expected"


def output_of(command):
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"{command[-1]} ended with {run.returncode}")
    return run.stdout


def compare(command, expected):
    output = output_of(command)
    print(output, end="")
    wrong = list(differences(read(output), read(expected.read_text())))
    for line in wrong:
        print(f"{expected.name}: {line}")
    return not wrong


def main(arguments):
    if arguments[:1] == ["--numpy"]:
        try:
            import numpy  # which the scripts need
        except ImportError:
            sys.exit(f"compare.py: --numpy needs NumPy, which {sys.executable} doesn't have: {sys.executable} -m pip install numpy")
        scripts = sorted(pathlib.Path(__file__).parent.glob("[0-9][0-9]_*.py"))
        right = True
        for script in scripts:
            if "--write" in arguments:
                script.with_suffix(".txt").write_text(output_of([sys.executable, str(script)]))
            right &= compare([sys.executable, str(script)], script.with_suffix(".txt"))
        print(f"{len(scripts)} examples with NumPy {numpy.__version__}: {'all as expected' if right else 'differences, see above'}")
        sys.exit(0 if right else 1)
    if len(arguments) != 2:
        sys.exit(__doc__)
    sys.exit(0 if compare(arguments[:1], pathlib.Path(arguments[1])) else 1)


main(sys.argv[1:])
