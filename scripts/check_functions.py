#!/usr/bin/env python3
"""Checks that each function that the tables of docs/arrays.md name is timed beside its peers.

Functions are what is called, or named alone, in the last column of a table. A row of bench/*/*functions_bench.cpp must call each. Prints
a line for each function that has none, and for each exception below that needs none, and fails if there is any.
"""

import pathlib
import re
import sys

EXCEPTIONS = {
    "array elements of the program's text": "array",
    "no elements are computed": "empty meshgrid shape view span borrow slice_of ddof out_axes",
    "copies of bytes": "from_span to_host save load",
    "the same as another row": "fill_normal fill_integers fill_bits",
    "compared with JAX by bench/autodiff": "grad",
}
TABLES = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
SNIPPET = re.compile(r"`([^`]+)`")
CALL = re.compile(r"([A-Za-z_]\w+)(?:<[^()]*?>)?(?:\{\})?\(")


def documented(page):
    """The functions that tables of NumPy's, JAX's or coir's functions name."""
    names = set()
    for table in TABLES.findall(page):
        heads, _, *rows = table.splitlines()
        last = heads.strip("| ").split("|")[-1].strip()
        if not (last.startswith("coir") or last == "what there is"):
            continue
        for row in rows:
            for snippet in SNIPPET.findall(re.split(r"(?<!\\)\|", row.strip().strip("|"))[-1]):
                calls = CALL.findall(snippet)
                words = re.fullmatch(r"[a-z_]\w+(?:<T>)?(?: [a-z_]\w+(?:<T>)?)*", snippet)
                names.update(calls or (re.sub("<T>", "", snippet).split() if words else ()))
    return names


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    names = documented((root / "docs/arrays.md").read_text(encoding="utf-8"))
    rows = "".join(path.read_text(encoding="utf-8") for path in root.glob("bench/*/*functions_bench.cpp"))
    timed = set(CALL.findall(rows))
    exceptions = {name for group in EXCEPTIONS.values() for name in group.split()}
    faults = [f"{name}() is in docs/arrays.md, and in no row of bench/*/*functions_bench.cpp" for name in names - timed - exceptions]
    faults += [f"{name} is an exception in scripts/check_functions.py, and has a row or isn't in docs/arrays.md"
               for name in exceptions - (names - timed)]  # fmt: skip
    print(*sorted(faults), f"{len(names)} functions, {len(faults)} faults", sep="\n")
    return 1 if faults or not names else 0


if __name__ == "__main__":
    sys.exit(main())
