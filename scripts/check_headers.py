#!/usr/bin/env python3
"""Compiles each of the library's headers by itself.

usage: scripts/check_headers.py BUILD_FOLDER

A header that reaches Kokkos starts from the precompiled one of coir_core, which takes a quarter of the time; the
others are compiled without it, so that what they lack shows. Ends with 1 if a header doesn't compile.
"""

import concurrent.futures
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"


@functools.cache
def reaches_kokkos(header):
    if header.startswith("Kokkos_"):
        return True
    file = INCLUDE / header
    names = re.findall(r"^#include <(.*)>", file.read_text(), re.MULTILINE) if file.is_file() else ()
    return any(map(reaches_kokkos, names))


def errors_in(header, entry, precompiled):
    """What the compiler says of the header, or nothing."""
    words = shlex.split(entry["command"])
    words[words.index("-o"):words.index("-o") + 2] = ["-fsyntax-only"]
    if reaches_kokkos(header):
        words[words.index("-c"):words.index("-c")] = ["-include", str(precompiled)]
    done = subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    entries = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        _, verified, header = entry["file"].partition("_verify_interface_header_sets/")
        if verified:
            entries[header.removesuffix(".cxx")] = entry
    precompiled = build / "src/core/CMakeFiles/coir_core.dir/cmake_pch.hxx"
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(lambda item: errors_in(*item, precompiled), entries.items()))
    print("".join(said), end="")
    print(f"{len(entries)} headers, {sum(map(bool, said))} faults")
    return 0 if entries and not any(said) else 1


if __name__ == "__main__":
    sys.exit(main())
