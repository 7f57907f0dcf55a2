"""The browser check of the site finds what it looks for; `make docs` runs it over the site itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs/site"))
import browser  # a script of the site, not of a package

PAGE = """<!doctype html><html lang="en"><head><title>A</title><meta name="viewport" content="width=device-width">
<style>body {{ background: #fff; color: #222 }} body[data-theme=dark] {{ background: #111; color: #eee }} {style}</style></head>
<body><main><h1>A</h1><p class="p">Text</p>{extra}</main></body></html>"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.browser() as started:
        yield started


def _problems(chromium: Browser, folder: Path, extra: str = "", style: str = "") -> list[str]:
    file = folder / "a.html"
    file.write_text(PAGE.format(extra=extra, style=style))
    page = chromium.new_page()
    try:
        return browser.problems(page, file)
    finally:
        page.close()


def test_a_sound_page_passes(chromium: Browser, tmp_path: Path) -> None:
    assert _problems(chromium, tmp_path) == []


@pytest.mark.parametrize(
    ("extra", "style", "says"),
    [
        ('<p style="width: 600px">wide</p>', "", "scrolls sideways at 390 pixels"),
        ('<p style="width: 2000px">wide</p>', "", "scrolls sideways at 1280 pixels"),
        ('<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">', "", "image-alt in light mode"),
        ("", ".p { color: #bbb }", "color-contrast in light mode"),
        ("", "body[data-theme=dark] .p { color: #444 }", "color-contrast in dark mode"),
        ("<button></button>", "", "button-name in light mode"),
        ('<script>console.error("broken")</script>', "", "console: broken"),
        ("<script>nothing.here()</script>", "", "script: nothing is not defined"),
        ('<script src="missing.js"></script>', "", "didn't load: file://"),
    ],
)
def test_what_is_wrong_with_a_page_is_named(
    chromium: Browser, tmp_path: Path, extra: str, style: str, says: str
) -> None:
    found = _problems(chromium, tmp_path, extra, style)
    assert any(line.startswith(says) for line in found), found


def test_all_colours_of_dark_mode_are_looked_at_again(chromium: Browser, tmp_path: Path) -> None:
    found = _problems(chromium, tmp_path, style="body[data-theme=dark] .p { color: #444 }")
    assert not any("light" in line for line in found), found


def test_a_word_that_the_search_does_not_find_is_named(chromium: Browser) -> None:
    site = Path(__file__).resolve().parents[2] / "build/docs/html"
    page = chromium.new_page()
    with browser.served(site) as address:
        assert browser.unfound(page, address, {"tutorial": "tutorial"}) == []
        assert browser.unfound(page, address, {"zyzzyva": "tutorial"}) == ["search: 'zyzzyva' has no result"]
        (wrong,) = browser.unfound(page, address, {"tutorial": "abi"})
    assert wrong.startswith("search: 'tutorial' finds tutorial")
    page.close()


_TABLE = '<article><div style="overflow-x: auto"><table style="min-width: {}px"><tr><td>cell</td></tr></table></div></article>'
_CODE = '<article><pre style="overflow-x: auto; margin: 0" tabindex="0">{}</pre></article>'


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        (_TABLE.format(1600), ["a div of 1600 pixels scrolls in", "a div of 1600 pixels scrolls in"]),
        (_TABLE.format(800), []),  # on a phone, a table may be somewhat wider
        (_CODE.format("x" * 300), ["a pre of"]),
        (_CODE.format("x" * 60), []),  # code may scroll on a phone
    ],
)
def test_tables_and_code_are_measured(chromium: Browser, tmp_path: Path, extra: str, says: list[str]) -> None:
    found = [line for line in _problems(chromium, tmp_path, extra) if "scrolls in" in line]
    assert len(found) == len(says)
    assert all(line.startswith(start) for line, start in zip(found, says, strict=True))
    assert all("desktop" in line for line in found[1:])


def test_a_word_whose_first_result_is_another_page_is_named(chromium: Browser) -> None:
    site = Path(__file__).resolve().parents[2] / "build/docs/html"
    page = chromium.new_page()
    with browser.served(site) as address:
        assert browser.misplaced(page, address, {"install": "index", "how fast": "benchmarks"}) == []
        assert browser.misplaced(page, address, {"zyzzyva": "abi", "tutorial": "abi"}) == [
            "search: the first result for 'zyzzyva' is missing, not abi",
            "search: the first result for 'tutorial' is tutorial, not abi",
        ]
    page.close()


@pytest.mark.parametrize(
    ("links", "says"), [(12, []), (13, ["the navigation shows 13 links, at most 12 are expected"])]
)
def test_a_crowded_navigation_is_named(chromium: Browser, tmp_path: Path, links: int, says: list[str]) -> None:
    shown = "".join(f'<li><a href="#{n}">{n}</a></li>' for n in range(links))
    hidden = '<li style="display: none"><a href="#more">more</a></li>'
    (tmp_path / "index.html").write_text(f'<div class="sidebar-tree"><ul>{shown}{hidden}</ul></div>')
    page = chromium.new_page()
    assert browser.crowded(page, tmp_path / "index.html") == says
    page.close()


def test_few_pages_are_all_that_people_write_and_each_generated_one_within_five_days(tmp_path: Path) -> None:
    written = [tmp_path / f"{name}.html" for name in ("index", "torch")]
    generated = [tmp_path / "ops" / f"{number}.html" for number in range(12)]
    by_day = [browser.chosen(written + generated, tmp_path, day) for day in range(738_000, 738_005)]
    assert all(files[:2] == written for files in by_day)
    assert sorted(file for files in by_day for file in files[2:]) == sorted(generated)
