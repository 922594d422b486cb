#!/usr/bin/env python3
"""Checks the rules of docs/architecture.md about what may include what.

Prints a line for each place that breaks one, and fails if there is any:
- detail/ of a module, and the headers beside its sources, are its own; sources use those of the modules below
- so are the names in its namespace detail, by whichever header they come; core, array, linalg and autodiff share coir::detail
- a module includes only itself and those below it
- no header includes itself, by way of others either
- nothing directly in array/detail includes array.hpp, which is made of it; detail/kernels/ does
- Kokkos' versions differ in core/kokkos.hpp alone, those of Kokkos Kernels in src/core/kokkos_kernels.hpp; only core, src/fft and src/linalg
  ask which backends there are
- CLI11 is included by sources of apps/support alone
"""

import collections
import pathlib
import posixpath
import re
import subprocess
import sys

# From the ground up.
MODULES = [
    "core",
    "distributed",
    "io",
    "hdf5",
    "fft",
    "array",
    "linalg",
    "autodiff",
    "inference",
    "sharded",
    "poisson",
    "shallow",
    "cosmology",
    "mesh",
    "nbody",
]  # modules

FOLDERS = ("include", "src", "apps", "bench", "tests")
INCLUDE = re.compile(r'\s*(?:#|%:)\s*(?:include|include_next|import)\s*([<"])([^>"]+)[>"]')
# Whose inner names are in coir::detail; the other modules have a namespace each.
SHARE_DETAIL = ("core", "array", "linalg", "autodiff")
CONDITION = r"\s*(?:#|%:)\s*(?:if|elif|ifdef|ifndef|elifdef|elifndef)\b.*"
VERSION = re.compile(CONDITION + "KOKKOS_VERSION")
KERNELS_VERSION = re.compile(CONDITION + "KOKKOSKERNELS_VERSION")
BACKEND = re.compile(CONDITION + r"\bKOKKOS_(?:ENABLE|ARCH)_")
DETAIL_OF_MODULE = re.compile(r"(?<![\w:])(?:::)?(?:coir::)?(" + "|".join(MODULES) + r")::detail\b")
SHARED_DETAIL = re.compile(r"(?<![\w:])(?:::)?coir::detail\b")
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
# A comment, or what the beginning of one may stand in.
COMMENT = re.compile(r'<[^<>\s]*>|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def lines_of(text):
    """Numbers and lines as the preprocessor has them: without comments, continued lines in one."""
    def blank(match):
        return match[0] if match[0][0] in '"<' else " " + "\n" * match[0].count("\n")

    number = 1
    for line in re.split(r"(?<!\\)\n", COMMENT.sub(blank, text)):
        yield number, line.replace("\\\n", " ")
        number += 1 + line.count("\n")


def owner(path):
    """The module that a file belongs to, or None: applications, benchmarks."""
    parts = path.parts
    if parts[0] == "include":
        return parts[2] if len(parts) > 3 else None
    if parts[0] == "src":
        return parts[1] if len(parts) > 2 else None
    if parts[0] in ("tests", "bench") and parts[1] in MODULES:
        return parts[1]
    return None


def included(path, quote, name):
    """The module of a file that is included, and whether it is one of the installed headers; None if it is no module's."""
    if quote == '"':
        near = path.parent / name
        if near.exists():
            near = pathlib.Path(posixpath.normpath(near.as_posix()))
            return (owner(near), near.parts[0] == "include") if near.parts[0] in ("include", "src") else None
    parts = posixpath.normpath(name).split("/")
    if parts[0] == "coir" and len(parts) > 2:
        return parts[1], True
    if len(parts) > 1 and parts[0] in MODULES and pathlib.Path("src", *parts).exists():
        return parts[0], False
    return None


def file_of(path, quote, name, files):
    """Which of the files an include means, or None."""
    near = [path.parent] if quote == '"' else []
    for folder in near + [pathlib.Path(first) for first in FOLDERS]:
        found = posixpath.normpath((folder / name).as_posix())
        if found in files:
            return found
    return None


def cycles_of(includes):
    """For each include that leads back to the file itself: file, line, and the way, as a list of files."""
    done, way = set(), []

    def visit(file):
        way.append(file)
        for number, other in includes.get(file, ()):
            if other in way:
                yield file, number, way[way.index(other):] + [other]
            elif other not in done:
                yield from visit(other)
        done.add(way.pop())

    for file in sorted(includes):
        if file not in done:
            yield from visit(file)


def faults_of(path, code):
    here = owner(path)
    if VERSION.match(code) and str(path) != "include/coir/core/kokkos.hpp":
        yield "Kokkos' versions differ in core/kokkos.hpp alone: give the difference a name there"
    if KERNELS_VERSION.match(code) and str(path) != "src/core/kokkos_kernels.hpp":
        yield "Kokkos Kernels' versions differ in src/core/kokkos_kernels.hpp alone: give the difference a name there"
    # It opens CUDA's driver in the place of the driver's library, which no user of the library should get.
    leaves_device_out = str(path) == "apps/device/leave_device_out.cpp"
    if BACKEND.match(code) and not leaves_device_out and path.parts[:3] != ("include", "coir", "core") and path.parts[:2] not in (("src", "core"), ("src", "fft"), ("src", "linalg")):
        yield "only core, src/fft and src/linalg ask which backends there are: choose by runs_on_host<Exec>, or give it a name in core/kokkos.hpp"
    text = STRING.sub('""', code)
    for module in set(DETAIL_OF_MODULE.findall(text)) - {here}:
        yield f"{module}::detail is {module}'s own; what two modules need is a documented header of the lower one"
    if here not in SHARE_DETAIL and SHARED_DETAIL.search(text):
        yield f"coir::detail is of {', '.join(SHARE_DETAIL)} alone; what others need is a documented header of one of them"
    match = INCLUDE.match(code)
    if not match:
        return
    quote, name = match.groups()
    if {"..", ".", ""} & set(name.split("/")):
        yield f"{name}: name the file from the include folder"
    if (name.startswith("CLI/") or name == "CLI11.hpp") and (path.parent.as_posix() != "apps/support" or path.suffix != ".cpp"):
        yield f"{name}: only sources of apps/support include CLI11, which takes seconds to compile: use support/command_line.hpp"
    found = included(path, quote, name)
    if found is None:
        return
    module, library = found
    if library and "detail" in name.split("/") and module != here:
        yield f"{name}: detail/ is {module}'s own; what two modules need is a documented header of the lower one"
    if not library and path.parts[0] != "src":
        yield f"{name}: src/ is for the library's own sources"
    if path.parts[0] in ("include", "src") and here:
        unknown = [wanted for wanted in (here, module) if wanted not in MODULES]
        if unknown:
            yield f"{unknown[0]} isn't among the MODULES of scripts/check_includes.py: list it below the modules that it uses"
        elif MODULES.index(module) > MODULES.index(here):
            yield f"{name}: {here} is below {module}"
    if path.parts[:4] == ("include", "coir", "array", "detail") and len(path.parts) == 5 and name == "coir/array/array.hpp":
        yield "array.hpp is made of array/detail: what works on arrays goes to array/detail/kernels"


def main():
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
        + [f"{folder}/*.{ending}" for folder in FOLDERS for ending in ("hpp", "cpp", "h", "inc", "ipp", "cu", "cuh")],
        check=True, capture_output=True, text=True).stdout.split("\0")
    texts = {name: pathlib.Path(name).read_text(encoding="utf-8") for name in files if name and pathlib.Path(name).exists()}
    includes = collections.defaultdict(list)
    faults = 0
    for name, text in texts.items():
        path = pathlib.Path(name)
        for number, code in lines_of(text):
            for fault in faults_of(path, code):
                print(f"{name}:{number}: {fault}")
                faults += 1
            match = INCLUDE.match(code)
            included_file = match and file_of(path, *match.groups(), texts)
            if included_file:
                includes[name].append((number, included_file))
    for name, number, way in cycles_of(includes):
        print(f"{name}:{number}: includes itself: {' -> '.join(way)}")
        faults += 1
    print(f"{len(files) - 1} files, {faults} faults")
    return 1 if faults or len(files) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
