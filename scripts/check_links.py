#!/usr/bin/env python3
"""Follows every link and image of a folder of HTML pages that doesn't leave it.

usage: check_links.py FOLDER

Ends with 1, after a line for each, if one leads to a file or an anchor that isn't there, or if a page made from a
.md file can't be reached from index.html.
"""

import html.parser
import pathlib
import sys
import urllib.parse

# Anchors that Doxygen 1.9.4 links to and doesn't make, in its own tables of contents.
OF_DOXYGEN = {"nested-classes"}


class Page(html.parser.HTMLParser):
    """The anchors of a page, and what it refers to."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)


def main(folder):
    pages = {path: Page(path) for path in folder.rglob("*.html")}
    if folder / "index.html" not in pages:
        sys.exit(f"{folder} has no index.html")
    dead, followed, leads_to = [], 0, {path: set() for path in pages}
    for path, page in pages.items():
        for link in page.links:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                continue
            followed += 1
            file, anchor = urllib.parse.unquote(url.path), urllib.parse.unquote(url.fragment)
            target = (path.parent / file).resolve() if file else path
            if not target.exists():
                dead.append(f"{path.name}: {link} isn't there")
            elif target in pages:
                leads_to[path].add(target)
                if anchor and anchor not in pages[target].anchors and anchor not in OF_DOXYGEN:
                    dead.append(f"{path.name}: {link}: no such place in that page")

    reached, ahead = set(), [folder / "index.html"]
    while ahead:
        path = ahead.pop()
        if path not in reached:
            reached.add(path)
            ahead += leads_to[path]
    for path in sorted(pages.keys() - reached):
        if not path.name.endswith("_8md.html") and path.name.startswith(("docs_", "apps_", "bench_")):
            dead.append(f"{path.name}: no page leads to it")

    for line in sorted(dead):
        print(line)
    print(f"{followed} links of {len(pages)} pages, {len(dead)} of them dead")
    sys.exit(1 if dead else 0)


if len(sys.argv) != 2:
    sys.exit(__doc__)
main(pathlib.Path(sys.argv[1]).resolve())
