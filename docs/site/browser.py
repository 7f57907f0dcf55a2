"""Opens every page of the built site in headless Chromium: `browser.py <folder> [--screenshots <folder>] [--few]`.

--few opens the pages that people write, and of the generated ones (ops, reference) a fifth, another one each day. `make test` does that;
`make docs` and `make release-check` open all pages.

Each page has to fit a desktop and a phone without horizontal scrolling, its tables and code too on a desktop, to pass axe-core's rules
of WCAG 2.1 AA (contrast, texts in place of pictures, names of controls, order of headings) in light and in dark mode, and to raise no
error on its console. The search has to find SEARCHES. audit.py, which needs no browser, follows the links."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import answers
import axe_playwright_python
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium-headless-shell"  # Debian's; Playwright would download one of its own
WIDTHS = {"desktop": 1280, "phone": 390}
_AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
# All rules once; those that depend on colours again in dark mode.
_RULES = {
    "light": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
    "dark": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
}
_PATIENCE = 180_000  # ms; a machine may be busy with other things
_LISTED = 5  # how many findings of one rule are printed in full
_DAYS = 5  # until --few has looked at every page
_SHOWN = 5  # a result below these isn't found by a reader
_PHONE_TABLE = 2.5  # how many times as wide as a phone's column a table may be
_LINKS = 12  # in the navigation, before a reader opens a part of it
# The page of the first result of each word, by the functions of the search page itself.
_FIRST = """words => words.map(word => Search._performSearch(...Search._parseQuery(word)).at(-1)?.[0])"""

# Words that readers look for, and the page that answers them; it has to be among the first results.
SEARCHES = {
    "load_inline": "python",
    "pickling": "python",
    "autograd": "torch",
    "DTensor": "torch",
    "shard_map": "jax",
    "sharding": "jax",
    "opencl": "device_code",
    "sanitizers": "debugging",
    "KERNPACK_CHECK": "debugging",
    "tutorial": "tutorial",
    "KP_EXPORT": "kernel",
    "KP_GRAD": "kernel",
    "grammar": "signature",
    "workspace": "storage",
    "CMake": "packaging",
    "tag": "packaging",
    "interpreter": "ir",
    "schedule": "schedules",
    "planner": "program",
    "softmax": "softmax",
}


@contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield chromium
        finally:
            chromium.close()


def _choose(page: Page, theme: str) -> None:
    """Sets light or dark mode, as the site's button does."""
    page.evaluate("theme => { document.body.dataset.theme = theme }", theme)


# The parts of the pages have few kinds: a part with the same tags and classes as one before, on whatever page, has the same colours,
# and isn't examined again; nor is a page that has only such parts. The navigation, the same on every page, is examined on the first
# one. What isn't examined is taken out: to leave it out of the rules takes as long as to examine it.
_PARTS = "article dl.cpp, article dl.py, article tr, article div.highlight, article p, article li"
_TAKE_OUT = """([parts, seen, navigation]) => {
  const known = new Set(seen), added = [], alike = [];
  for (const block of document.querySelectorAll(parts)) {
    const inside = new Set([...block.querySelectorAll("*")].map(part => part.tagName + "." + part.className));
    const around = block.parentElement.tagName + "." + block.parentElement.className;
    const key = [around, block.tagName, block.className, ...[...inside].sort()].join(" ");
    (known.has(key) ? alike : added).push(known.has(key) ? block : key);
    known.add(key);
  }
  if (!navigation) alike.push(...document.querySelectorAll(".sidebar-drawer"));
  for (const block of alike) block.remove();
  return added;
}"""
# Without preload: it fetches style sheets by XMLHttpRequest, which a page that is a file may not do.
_RUN = """rules => axe.run({runOnly: rules, resultTypes: ["violations"], preload: false})"""


# Parts of a page that scroll by themselves: how wide their contents are, and how wide they are.
_SCROLLING = """() => [...document.querySelectorAll("article *")].filter(part =>
  part.scrollWidth > part.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(part).overflowX)
).map(part => [part.tagName.toLowerCase(), part.scrollWidth, part.clientWidth, part.innerText.slice(0, 40).replaceAll("\\n", " ")])"""


def _scrolling(page: Page, device: str) -> list[str]:
    """Tables and code that are wider than their column: on a desktop none; on a phone tables up to a limit, since a row of short cells
    is easier to read there than a cell with one word on each line."""
    found = []
    for tag, needed, shown, text in page.evaluate(_SCROLLING):
        if device == "desktop" or (tag != "pre" and needed > _PHONE_TABLE * shown):
            found.append(f"a {tag} of {needed} pixels scrolls in {shown} on a {device}: {text}")
    return found


def _violations(page: Page, theme: str) -> list[str]:
    found = page.evaluate(_RUN, _RULES[theme])
    lines = []
    for rule in found["violations"]:
        nodes = rule["nodes"]
        for node in nodes[:_LISTED]:
            detail = " ".join(node["failureSummary"].split()[5:])  # without "Fix any of the following:"
            lines.append(f"{rule['id']} in {theme} mode: {detail}: {node['html'][:120]}")
        if len(nodes) > _LISTED:
            lines.append(f"{rule['id']} in {theme} mode: {len(nodes) - _LISTED} more like these")
    return lines


def problems(page: Page, file: Path, shots: Path | None = None, seen: list[str] | None = None) -> list[str]:
    """Returns the faults of one page of the site. seen: kinds of parts that were examined; those of this page are added."""
    seen = [] if seen is None else seen
    found: list[str] = []
    page.set_default_timeout(_PATIENCE)
    page.on("console", lambda message: message.type == "error" and found.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: found.append(f"script: {error.message}"))
    page.on("requestfailed", lambda request: found.append(f"didn't load: {request.url}"))
    page.goto(file.resolve().as_uri())
    for device, width in reversed(WIDTHS.items()):  # the desktop last: the rules are for it
        page.set_viewport_size({"width": width, "height": 900})
        needed = page.evaluate("document.documentElement.scrollWidth")
        if needed > width:
            found.append(f"scrolls sideways at {width} pixels: its contents are {needed} wide")
        found += _scrolling(page, device)
        for theme in _RULES if shots else ():
            _choose(page, theme)
            page.screenshot(path=shots / f"{file.stem}-{device}-{theme}.png", full_page=device == "desktop")
    fresh = page.evaluate(_TAKE_OUT, [_PARTS, seen, file.name == "index.html"])
    if fresh or not seen:
        page.evaluate(_AXE.read_text(encoding="utf-8"))
        for theme in _RULES:
            _choose(page, theme)
            found += _violations(page, theme)
    seen += fresh
    return found


def _examine(files: list[Path], shots: Path | None) -> dict[Path, list[str]]:
    found: dict[Path, list[str]] = {}
    seen: list[str] = []
    with browser() as chromium:
        for file in files:
            context = chromium.new_context()
            found[file] = problems(context.new_page(), file, shots, seen)
            context.close()
    return found


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The site at an address of its own: the search fetches the pages that it cites, which a page that is a file may not do."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *request: object) -> None:
            pass  # the browser leaves a page whose parts are still on their way

    with Server(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def unfound(page: Page, address: str, searches: dict[str, str]) -> list[str]:
    """The words that the search of the site doesn't find on their page."""
    found = []
    page.set_default_timeout(_PATIENCE)
    for word, wanted in searches.items():
        page.goto(f"{address}/search.html?q={word}")
        page.wait_for_function("/finished|did not match/.test(document.querySelector('.search-summary')?.innerText)")
        links = page.eval_on_selector_all("#search-results ul.search > li > a", "all => all.map(a => a.href)")
        names = list(dict.fromkeys(Path(link.partition("?")[0].partition("#")[0]).stem for link in links))
        if not names:
            found.append(f"search: {word!r} has no result")
        elif wanted not in names[:_SHOWN]:
            found.append(f"search: {word!r} finds {', '.join(names[:_SHOWN])}, but not {wanted}")
    return found


def misplaced(page: Page, address: str, first: dict[str, str]) -> list[str]:
    """The words whose first result is another page than the one that answers them (answers.py)."""
    page.set_default_timeout(_PATIENCE)
    page.goto(f"{address}/search.html")
    page.wait_for_function("typeof Search !== 'undefined' && Search.hasIndex()")
    hits = page.evaluate(_FIRST, list(first))
    return [
        f"search: the first result for {word!r} is {hit or 'missing'}, not {wanted}"
        for (word, wanted), hit in zip(first.items(), hits, strict=True)
        if hit != wanted
    ]


def crowded(page: Page, first: Path) -> list[str]:
    """The navigation of the first page, where it shows more than a reader takes in at once."""
    page.set_viewport_size({"width": WIDTHS["desktop"], "height": 900})
    page.goto(first.resolve().as_uri())
    shown = page.evaluate(
        "[...document.querySelectorAll('.sidebar-tree a')].filter(link => link.checkVisibility()).length"
    )
    return [f"the navigation shows {shown} links, at most {_LINKS} are expected"] if shown > _LINKS else []


def chosen(files: list[Path], site: Path, day: int) -> list[Path]:
    """The pages that people write, and the day's fifth of the generated ones, which stand in folders of their own."""
    generated = [file for file in files if file.parent != site]
    left_out = {file for index, file in enumerate(generated) if index % _DAYS != day % _DAYS}
    return [file for file in files if file not in left_out]


def _searched(site: Path) -> list[str]:
    ops = [file.stem for file in (site / "ops").glob("*.html")]
    with served(site) as address, browser() as chromium:
        page = chromium.new_page()
        found = unfound(page, address, SEARCHES) + misplaced(page, address, answers.first_pages(ops))
        return found + crowded(page, site / "index.html")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--screenshots", type=Path, help="also write a picture of each page, width and mode here")
    parser.add_argument("--few", action="store_true", help="a fifth of the generated pages, by the day")
    options = parser.parse_args()
    files = sorted(options.site.rglob("*.html"))
    if not files:
        print(f"{options.site} has no page")
        return 1
    if options.few:
        files = chosen(files, options.site, datetime.datetime.now(datetime.UTC).date().toordinal())
    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(2) as pool:
        searched = pool.submit(_searched, options.site)
        halves = [pool.submit(_examine, files[part::2], options.screenshots) for part in (0, 1)]
        by_page = {file: found for half in halves for file, found in half.result().items()}
        wrong = [f"{file.relative_to(options.site)}: {what}" for file in files for what in by_page[file]]
        wrong += searched.result()
    print("\n".join(wrong) or f"{len(files)} pages look right in Chromium, and the search finds its words")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
