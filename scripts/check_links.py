#!/usr/bin/env python3
"""Follows every link and image of a folder of HTML pages that doesn't leave it.

usage: check_links.py FOLDER

Ends with 1, after a line for each, if one leads to a file or an anchor that isn't there.
"""

import html.parser
import pathlib
import sys
import urllib.parse


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
    dead, followed = [], 0
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
                if anchor and anchor not in pages[target].anchors:
                    dead.append(f"{path.name}: {link}: no such place in that page")

    for line in sorted(dead):
        print(line)
    print(f"{followed} links of {len(pages)} pages, {len(dead)} of them dead")
    sys.exit(1 if dead else 0)


if len(sys.argv) != 2:
    sys.exit(__doc__)
main(pathlib.Path(sys.argv[1]).resolve())
