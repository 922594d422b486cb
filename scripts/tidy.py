#!/usr/bin/env python3
"""clang-tidy over what is compiled of src/ and apps/, by the checks of .clang-tidy.

usage: scripts/tidy.py BUILD_FOLDER [-j JOBS] [FOLDER...]

The sources of a folder are read together, as one file, so that Kokkos' headers, which take longest, are read once for all
of them; their names must not collide. Ends with 1 if there is a finding.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def groups_of(database, folders):
    """{name: the entries of the database that are read together}"""
    groups, seen = collections.defaultdict(list), set()
    for entry in database:
        file = pathlib.Path(entry["file"])
        files = [file]
        if file.parent.name == "Unity":  # CMake joined them: a line of #include for each
            files = [pathlib.Path(name) for name in re.findall('^#include "(.*)"', file.read_text(), re.MULTILINE)]
        for file in files:
            if not file.is_relative_to(ROOT) or file in seen:
                continue
            path = file.relative_to(ROOT)
            if path.parts[0] not in ("src", "apps") or (folders and str(path.parent) not in folders):
                continue
            seen.add(file)
            groups[str(path.parent)].append(entry | {"file": str(file)})
    return groups


def flags_of(entries):
    """The flags of the source that has the most, for some do without Kokkos, and the folders of headers of all."""
    entries = sorted(entries, key=lambda entry: -len(entry["command"]))
    flags, seen = [], set()
    for entry in entries:
        words = iter(shlex.split(entry["command"])[1:])
        for word in words:
            if word in ("-c", "-o", "-include"):  # what is included so is precompiled, for another compiler
                next(words)
            elif word.startswith(("-W", "-fmax-errors")):  # warnings are the compiler's to give
                pass
            elif word in ("-isystem", "-I"):
                folder = next(words)
                if folder not in seen:
                    seen.add(folder)
                    flags += [word, folder]
            elif entry is entries[0] or (word.startswith(("-I", "-D")) and word not in flags):
                flags.append(word)
    return flags


def check(name, entries, folder):
    file = folder / (re.sub(r"\W", "_", name) + ".cpp")
    file.write_text("".join(f'#include "{entry["file"]}"\n' for entry in entries))
    begin = time.monotonic()
    run = subprocess.run(["clang-tidy-19", "--quiet", "--warnings-as-errors=*", f"--config-file={ROOT}/.clang-tidy", str(file),
                          "--", *flags_of(entries)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    output = run.stdout if run.returncode == 0 or run.stdout else run.stdout + run.stderr
    return name, len(entries), time.monotonic() - begin, run.returncode, output


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].strip())
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("-j", type=int, default=os.cpu_count(), dest="jobs")
    parser.add_argument("folders", nargs="*")
    given = parser.parse_intermixed_args()
    database = given.build / "compile_commands.json"
    if not database.is_file():
        sys.exit(f"tidy.py: {database} isn't there: configure that folder by a preset first")
    groups = groups_of(json.loads(database.read_text()), given.folders)
    if not groups:
        sys.exit(f"tidy.py: {database} compiles nothing of src/ or apps/" + "".join(f" {f}" for f in given.folders))
    folder = given.build / "tidy"
    folder.mkdir(exist_ok=True)
    found = 0
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for name, files, seconds, code, output in pool.map(lambda group: check(*group, folder), groups.items()):
            print(f"{name}: {files} files, {seconds:.0f} s{'' if code == 0 else ', with findings'}", flush=True)
            if code != 0:
                found += 1
                print(output, end="")
    sys.exit(1 if found else 0)


main()
