#!/usr/bin/env python3
"""Checks that one rank is a group of one: only the modules distributed and fft ask how many ranks there are.

Prints a line for each place that asks and isn't among the exceptions, and for each exception without
such a place, and fails if there is any.
"""

import pathlib
import re
import subprocess
import sys

# Files, or folders, and why they ask.
EXCEPTIONS = {
    "apps/info/": "it tells what it finds of ranks",
    "apps/jacobi/": "one rank alone has all schemes, writes its rows without a copy and measures the bandwidth",
    "apps/nbody/balance.cpp": "one rank has all particles, so that its share can't vary",
    "apps/nbody/checkpoint.hpp": "one rank's particles lie in the checkpoint itself, without parts",
    "apps/nbody/density.hpp": "one rank writes its mesh without a copy",
    "apps/nbody/main.cpp": "it tells users the limits of one rank and of several",
    "apps/nbody/outputs.hpp": "it counts the memory of sheet.hpp",
    "apps/nbody/present.cpp": "it prints what only several ranks have",
    "apps/nbody/schedule.cpp": "names of several ranks' files have the number of the rank",
    "apps/nbody/shared_folder.cpp": "several ranks must see one folder",
    "apps/nbody/sheet.hpp": "the plane behind one rank's last plane is its first one",
    "apps/support/": "one rank has no others to ask, to count or to end",
    "include/coir/mesh/ghosts.hpp": "one rank needs no ghost planes",
    "include/coir/nbody/field_target.hpp": "chains are those of one rank",
    "include/coir/nbody/detail/places.hpp": "particles of one rank stay on it",
}

FOLDERS = ("include", "src", "apps")
MODULES_THAT_MAY = re.compile(r"(include/coir|src)/(distributed|fft)/")
QUESTION = re.compile(r"\b(group|ranks|world)(_|\(\))?(\.size\(\))?\s*(==|!=|<=?|>=?)\s*[012]\b")


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    listed = subprocess.run(["git", "-C", root, "ls-files", *FOLDERS], capture_output=True, text=True, check=True)
    found = []
    unused = dict(EXCEPTIONS)
    for name in listed.stdout.splitlines():
        if not name.endswith((".hpp", ".cpp")) or MODULES_THAT_MAY.match(name):
            continue
        for number, line in enumerate((root / name).read_text().splitlines(), 1):
            if not QUESTION.search(line.split("//")[0]):
                continue
            exceptions = [exception for exception in EXCEPTIONS if name.startswith(exception)]
            for exception in exceptions:
                unused.pop(exception, None)
            if not exceptions:
                found.append(f"{name}:{number}: asks how many ranks there are: {line.strip()}")
    found += [f"scripts/check_ranks.py: {name} asks no more: remove the exception" for name in unused]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
