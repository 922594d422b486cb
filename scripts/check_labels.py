#!/usr/bin/env python3
"""Checks that the label of a kernel, a View or a region leads to the file that it stands in.

In src/ and include/ a label is "coir::<module>::<file>[/<step>]", where <file> is the file's name without its ending and
without "_impl". Prints a line for each label that isn't, with what it should be, and fails if there is any.
"""

import pathlib
import re
import subprocess
import sys

# A comment, or a string literal.
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"((?:\\.|[^"\\\n])*)"', re.DOTALL)
LABEL = re.compile(r"coir(?:::\w+)+(?:/\w*)*")


def beginning(path):
    """What the labels of a file begin with, or None where a file is no module's."""
    parts = path.parts
    module = parts[2] if parts[0] == "include" and len(parts) > 3 else parts[1] if parts[0] == "src" and len(parts) > 2 else None
    return module and f"coir::{module}::{path.stem.removesuffix('_impl')}"


def labels(text):
    """Line and text of each label."""
    for match in TOKEN.finditer(text):
        if match[1] and LABEL.fullmatch(match[1]):
            yield text.count("\n", 0, match.start()) + 1, match[1]


def main():
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "src", "include"],
                           check=True, capture_output=True, text=True).stdout.split("\0")
    checked = faults = 0
    for path in map(pathlib.Path, names):
        expected = beginning(path) if path.suffix in (".hpp", ".cpp") and path.exists() else None
        for number, label in labels(path.read_text(encoding="utf-8")) if expected else ():
            checked += 1
            if label != expected and not label.startswith(expected + "/"):
                print(f'{path}:{number}: "{label}" doesn\'t lead here: "{expected}" or "{expected}/<step>" does')
                faults += 1
    print(f"{checked} labels, {faults} faults")
    return 1 if faults or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
