#!/usr/bin/env python3
"""Makes the files of a new kernel, module or application, with their tests and lines of CMake.

usage: scripts/new.py kernel MODULE NAME     a function of a module: header, definition, test, benchmark
       scripts/new.py module MODULE NAME     a module with a first function
       scripts/new.py app NAME               the application coir-NAME and its test

What comes out compiles, passes, and does something small: change it from there. Names are of lower-case letters, digits
and underscores. --root FOLDER works on another clone.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

TEMPLATES = pathlib.Path(__file__).resolve().parent / "new"
IN_COIR = {"array", "autodiff", "core", "linalg"}  # modules whose functions are in the namespace coir itself

# What C++ and CMake give another meaning.
RESERVED = set("""
    alignas alignof and and_eq asm assert auto bitand bitor bool break case catch char char8_t char16_t char32_t class
    co_await co_return co_yield coir compl concept const const_cast consteval constexpr constinit continue decltype default
    delete detail do double dynamic_cast else enum errno explicit export extern false float for friend goto if inline int
    long main mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert static_cast std struct switch template test
    this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor
    xor_eq""".split())


class Refused(Exception):
    """Why nothing was made."""


class Tree:
    """A clone: collects all that is to be written, and writes it when nothing has been refused."""

    def __init__(self, root):
        self.root = root
        self.texts = {}
        if not (root / "CMakeLists.txt").is_file() or not (root / "include/coir").is_dir():
            raise Refused(f"{root} is no clone of coir: name one by --root FOLDER")

    def read(self, path):
        if path not in self.texts:
            self.texts[path] = (self.root / path).read_text()
        return self.texts[path]

    def has(self, path):
        return path in self.texts or (self.root / path).exists()

    def make(self, path, template, words):
        if self.has(path):
            raise Refused(f"{path} is there already: choose another name")
        text = (TEMPLATES / template).read_text() if template else ""
        for word, value in words.items():
            text = text.replace(f"@{word}@", value)
        self.texts[path] = text

    def insert(self, path, line, before):
        """Puts a line before the first one that matches, or at the end if nothing is given."""
        lines = self.read(path).splitlines()
        at = len(lines)
        if before is not None:
            at = next((n for n, text in enumerate(lines) if re.match(before, text)), None)
            if at is None:
                raise Refused(f"{path} has no line '{before}', before which '{line}' belongs: add it by hand")
        lines.insert(at, line)
        self.texts[path] = "\n".join(lines) + "\n"

    def write(self):
        sources = []
        for path, text in self.texts.items():
            file = self.root / path
            new = not file.exists()
            if new or file.read_text() != text:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
                print(f"{'new    ' if new else 'changed'} {path}")
                sources += [file] if file.suffix in (".hpp", ".cpp") else []
        if shutil.which("clang-format-19"):  # lines have other lengths with other names
            subprocess.run(["clang-format-19", "-i", f"--style=file:{TEMPLATES.parent.parent}/.clang-format", *sources])


def check_name(name, what):
    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        raise Refused(f"{what} must be of lower-case letters, digits and underscores, and begin with a letter, not '{name}'")
    if name in RESERVED or "__" in name:
        raise Refused(f"{what} can't be '{name}', which C++, CMake or coir itself uses: choose another name")


def camel_case(name):
    return "".join(part.capitalize() for part in name.split("_"))


def add_subfolder(tree, folder, module, text, before):
    """tests/MODULE or bench/MODULE, if there is none yet."""
    if not tree.has(f"{folder}/{module}/CMakeLists.txt"):
        tree.texts[f"{folder}/{module}/CMakeLists.txt"] = text
        tree.insert(f"{folder}/CMakeLists.txt", f"add_subdirectory({module})", before)


def add_kernel(tree, module, name):
    words = {
        "module": module,
        "namespace": "coir" if module in IN_COIR else f"coir::{module}",
        "name": name,
        "Name": camel_case(name),
        "NAME": name.upper(),
    }
    tree.make(f"include/coir/{module}/{name}.hpp", "kernel.hpp.in", words)
    tree.make(f"src/{module}/{name}_impl.hpp", "kernel_impl.hpp.in", words)
    tree.make(f"tests/{module}/{name}_test.cpp", "kernel_test.cpp.in", words)
    tree.make(f"bench/{module}/{name}_bench.cpp", "kernel_bench.cpp.in", words)
    add_subfolder(tree, "tests", module, f"coir_add_tests({module})\n", r"add_subdirectory\(docs\)")
    add_subfolder(tree, "bench", module, "", r"add_subdirectory\(poisson\)")
    tree.insert(f"bench/{module}/CMakeLists.txt", f'coir_add_bench({module} {name} SMOKE "/1024/")', None)
    return [f"cmake --preset openmp -D COIR_ALL_TESTS=ON && cmake --build --preset openmp --target {module}_{name}_test",
            f"ctest --preset openmp -R {module}/{camel_case(name)}"]


def add_module(tree, module, name):
    if tree.has(f"src/{module}") or tree.has(f"include/coir/{module}"):
        raise Refused(f"the module {module} is there already: scripts/new.py kernel {module} {name}")
    for folder in ("tests", "bench"):
        if tree.has(f"{folder}/{module}"):
            raise Refused(f"{folder}/{module} is there already and no module's: choose another name")
    tree.texts[f"src/{module}/CMakeLists.txt"] = f"coir_add_module({module} LINK coir_core)\n"
    tree.insert("CMakeLists.txt", f"add_subdirectory(src/{module})", r"unset\(CMAKE_POSITION_INDEPENDENT_CODE\)")
    tree.insert("scripts/check_includes.py", f'    "{module}",', r"\]  # modules")
    return add_kernel(tree, module, name) + [
        f"say in docs/architecture.md what {module} holds; there, in CMakeLists.txt and in scripts/check_includes.py move its",
        "line to just below the modules that it uses"]


def add_app(tree, name):
    if tree.has(f"apps/{name}"):
        raise Refused(f"the application {name} is there already")
    words = {"name": name, "Name": camel_case(name)}
    tree.make(f"apps/{name}/main.cpp", "app_main.cpp.in", words)
    tree.make(f"apps/{name}/README.md", "app_README.md.in", words)
    tree.texts[f"apps/{name}/CMakeLists.txt"] = f"coir_add_app({name})\n"
    tree.insert("apps/CMakeLists.txt", f"add_subdirectory({name})", r"add_subdirectory\(jacobi\)")
    tree.make(f"tests/apps/{name}_test.cpp", "app_test.cpp.in", words)
    tree.insert("tests/apps/CMakeLists.txt", f"coir_add_app_test({name} coir_app_{name})",
                r"coir_add_app_test\(jacobi ")
    return [f"cmake --preset openmp && cmake --build --preset openmp --target apps_{name}_test",
            f"ctest --preset openmp -R apps/{camel_case(name)}",
            f"link apps/{name}/README.md from README.md and cmake/site/menu.md"]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].strip(), add_help=True)
    parser.add_argument("--root", type=pathlib.Path, default=TEMPLATES.parent.parent)
    kinds = parser.add_subparsers(dest="kind", required=True)
    for kind in ("kernel", "module"):
        arguments = kinds.add_parser(kind, usage=parser.usage)
        arguments.add_argument("module")
        arguments.add_argument("name")
    kinds.add_parser("app", usage=parser.usage).add_argument("name")
    given = parser.parse_args()
    try:
        check_name(given.name, "NAME")
        tree = Tree(given.root)
        if given.kind == "app":
            following = add_app(tree, given.name)
        else:
            check_name(given.module, "MODULE")
            if given.kind == "kernel" and not tree.has(f"src/{given.module}/CMakeLists.txt"):
                raise Refused(f"there is no module {given.module}: scripts/new.py module {given.module} {given.name}")
            following = (add_kernel if given.kind == "kernel" else add_module)(tree, given.module, given.name)
        tree.write()
    except Refused as reason:
        print(f"new.py: {reason}", file=sys.stderr)
        sys.exit(2)
    print("\nnow:")
    for line in following:
        print(f"  {line}")


main()
