#!/usr/bin/env python3
"""Checks the rules of docs/architecture.md about what may include what.

Prints a line for each place that breaks one, and fails if there is any:
- detail/ of a module, and the headers beside its sources, are its own; sources use those of the modules below
- a module includes only itself and those below it
- nothing directly in array/detail includes array.hpp, which is made of it; detail/kernels/ does
- Kokkos' versions differ in core/kokkos.hpp alone
"""

import pathlib
import re
import subprocess
import sys

# From the ground up.
MODULES = ["core", "io", "hdf5", "array", "linalg", "autodiff", "poisson", "cosmology", "fft", "mesh", "nbody"]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
VERSION = re.compile(r"^\s*#\s*(if|elif|ifdef|ifndef).*KOKKOS_VERSION")


def owner(path):
    """The module that a file belongs to, or None: applications, benchmarks."""
    parts = path.parts
    if parts[0] == "include":
        return parts[2] if len(parts) > 3 else None
    if parts[0] in ("src", "tests", "bench") and parts[1] in MODULES:
        return parts[1]
    return None


def faults_of(path, line, code):
    here = owner(path)
    if VERSION.match(code) and str(path) != "include/coir/core/kokkos.hpp":
        yield "Kokkos' versions differ in core/kokkos.hpp alone: give the difference a name there"
    match = INCLUDE.match(code)
    if not match:
        return
    parts = match[2].split("/")
    if match[1] == '"':
        if ".." in parts:
            yield f"{match[2]}: name the file from the include folder"
        return
    if parts[0] == "coir" and len(parts) > 2:
        module, library = parts[1], True
    elif len(parts) > 1 and parts[0] in MODULES and pathlib.Path("src", *parts).exists():
        module, library = parts[0], False
    else:
        return
    if library and "detail" in parts and module != here:
        yield f"{match[2]}: detail/ is {module}'s own; what two modules need is a documented header of the lower one"
    if not library and path.parts[0] != "src":
        yield f"{match[2]}: src/ is for the library's own sources"
    if path.parts[0] in ("include", "src") and here and MODULES.index(module) > MODULES.index(here):
        yield f"{match[2]}: {here} is below {module}"
    if path.parts[:4] == ("include", "coir", "array", "detail") and len(path.parts) == 5 and match[2] == "coir/array/array.hpp":
        yield "array.hpp is made of array/detail: what works on arrays goes to array/detail/kernels"


def main():
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--"]
        + [f"{folder}/*.{ending}" for folder in ("include", "src", "apps", "bench", "tests") for ending in ("hpp", "cpp")],
        check=True, capture_output=True, text=True).stdout.split()
    faults = 0
    for name in files:
        path = pathlib.Path(name)
        if not path.exists():
            continue
        for number, code in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for fault in faults_of(path, number, code):
                print(f"{name}:{number}: {fault}")
                faults += 1
    print(f"{len(files)} files, {faults} faults")
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())
