#!/usr/bin/env python3
"""Checks a built site: each link leads to a page and a heading that exist, and nothing is loaded
from anywhere else. Prints what does not hold; the status is 1 then.

    docs/site/check.py FOLDER
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src", "link": "href"}


class Page(HTMLParser):
    """The names that a page gives to its parts, and what it links to and loads."""

    def __init__(self, text):
        super().__init__()
        self.names = set()
        self.links = []
        self.loads = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.names.update(given[key] for key in ("id", "name") if given.get(key))
        if tag in LOADED and given.get(LOADED[tag]):
            self.loads.append(given[LOADED[tag]])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


def faults(root):
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    if not pages:
        yield f"{root}: no page"
    for path, page in pages.items():
        here = path.relative_to(root)
        for link in page.loads + page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads:
                    yield f"{here}: loads {link}"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file() or root not in target.parents:
                yield f"{here}: no such page: {link}"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
                yield f"{here}: no such heading: {link}"
    for style in root.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        if "@import" in text or "url(" in text:
            yield f"{style.relative_to(root)}: loads something"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(faults(Path(sys.argv[1]).resolve()))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


main()
