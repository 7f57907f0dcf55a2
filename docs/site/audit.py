"""Looks at every page of the built site: `audit.py <folder>`.

It must open offline, so no script, style, font or picture may come from elsewhere. Every link inside the site must have its file
and its anchor, every picture a text in its place, and code lines that fit the column. browser.py measures tables and code."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Elements that a browser fetches by itself when it opens a page.
_FETCHED = {
    ("script", "src"),
    ("img", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "src"),
    ("object", "data"),
}
_COLUMNS = 90  # of a line of code, in the column of 736 pixels
_WRAPS = {"highlight-text", "highlight-none", "highlight-default"}  # output, which site.css breaks into lines
_STYLE = re.compile(r"@import\s+[\"']?(?:url\()?[\"']?(?:https?:)?//|url\(\s*[\"']?(?:https?:)?//", re.IGNORECASE)


class Page(HTMLParser):
    def __init__(self, file: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.without_text: list[str] = []
        self.wide: list[str] = []
        self._code: str | None = None  # what was read of a block of code
        self._wraps = False
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if values.get("id"):
            self.ids.add(str(values["id"]))
        if tag == "a" and values.get("href"):
            self.links.append(str(values["href"]))
        self.fetched += [str(value) for name, value in attributes if (tag, name) in _FETCHED and value]
        classes = set((values.get("class") or "").split())
        if tag == "div" and any(name.startswith("highlight-") for name in classes):
            self._wraps = bool(classes & _WRAPS)
        if tag == "pre":
            self._code = ""
        if tag == "img" and not (values.get("alt") or "").strip():
            self.without_text.append(str(values.get("src")))

    def handle_data(self, data: str) -> None:
        if self._code is not None:
            self._code += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre" and self._code is not None:
            lines = [] if self._wraps else self._code.splitlines()
            self.wide += [line.strip() for line in lines if len(line.rstrip()) > _COLUMNS]
            self._code = None


def _target(site: Path, file: Path, link: str) -> tuple[Path, str] | None:
    """The file and anchor that a link inside the site leads to; None for a link to elsewhere."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    path = unquote(parts.path)
    target = (file.parent / path).resolve() if path else file
    return (target / "index.html" if target.is_dir() else target), unquote(parts.fragment)


def problems(site: Path) -> list[str]:
    site = site.resolve()
    pages = {file: Page(file) for file in sorted(site.rglob("*.html"))}
    if not pages:
        return [f"{site} has no page"]
    found = []
    for file, page in pages.items():
        name = file.relative_to(site)
        for source in page.fetched:
            target = _target(site, file, source)
            if target is None:
                if not source.startswith("data:"):
                    found.append(f"{name} fetches {source} from elsewhere")
            elif not target[0].exists():
                found.append(f"{name} uses {source}, which doesn't exist")
        found += [f"{name}: the picture {source} has no alt text" for source in page.without_text]
        found += [f"{name}: a line of code has over {_COLUMNS} columns: {line[:60]} ..." for line in page.wide]
        for link in page.links:
            target = _target(site, file, link)
            if target is None:
                continue
            if not target[0].exists():
                found.append(f"{name} links to {link}, which doesn't exist")
            elif target[1] and target[0] in pages and target[1] not in pages[target[0]].ids:
                found.append(f"{name} links to {link}: that page has no such anchor")
    for style in sorted(site.rglob("*.css")):
        if _STYLE.search(style.read_text(encoding="utf-8")):
            found.append(f"{style.relative_to(site)} fetches something from elsewhere")
    return found


if __name__ == "__main__":
    wrong = problems(Path(sys.argv[1]))
    print("\n".join(wrong) or f"the pages of {sys.argv[1]} open offline, no link is dead, and code fits")
    sys.exit(bool(wrong))
