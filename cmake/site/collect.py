#!/usr/bin/env python3
"""Collects the pages of the site, with the files that they link to.

usage: collect.py SOURCE FOLDER

FOLDER is emptied. A page that the menu (menu.md beside this file) leaves out is found by Sphinx.
"""

import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGES = ["*.md", "docs/*.md", "docs/decisions/*.md", "docs/examples/README.md", "apps/*.md", "apps/*/*.md", "bench/gpu/*.md",
         "bench/peers/README.md", "packaging/README.md"]
NOT_IN_MENU = {"apps/jacobi/coffee.md"}  # where a picture comes from: the page that shows it links to that
FENCE = re.compile(r"^(```.*?^```|~~~.*?^~~~)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#?\s]+)")


def linked_files(page, text):
    """The files in the tree that a page links to or shows, and which are no pages."""
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))):
        path = page.parent / target
        if "://" not in target and path.is_file() and path.suffix != ".md":
            yield path.resolve()


def programs(folder):
    """The examples' sources, each with NumPy's lines below, as Markdown."""
    lines = ["", "## The programs", ""]
    for program in sorted(folder.glob("[0-9]*.cpp")):
        lines += [f"### {program.stem}", "", f"```{{literalinclude}} {program.name}", ":language: cpp", "```", "", "NumPy:",
                  "", f"```{{literalinclude}} {program.stem}.py", ":language: python", "```", ""]
    return "\n".join(lines)


def collect_pages(source, folder):
    for page in sorted(page for pattern in PAGES for page in source.glob(pattern)):
        text = page.read_text(encoding="utf-8")
        target = folder / page.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        for file in linked_files(page, text):
            copy = folder / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
        if page == source / "README.md":
            target = folder / "index.md"
            text += (HERE / "menu.md").read_text(encoding="utf-8")
        if page == source / "docs/examples/README.md":
            text += programs(page.parent)
            for program in page.parent.glob("[0-9]*.*"):
                shutil.copy(program, target.parent)
        if page == source / "docs/decisions/README.md":
            text += "\n```{toctree}\n:hidden:\n:glob:\n\n[0-9]*\n```\n"
        if page.relative_to(source).as_posix() in NOT_IN_MENU:
            text = "---\norphan: true\n---\n" + text
        text = re.sub(r"\]\(((?:\.\./)+)README\.md", r"](\1index.md", text)
        target.write_text(text, encoding="utf-8")


def main(source, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    collect_pages(source, folder)


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
