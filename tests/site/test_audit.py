"""The audit of the site finds what it looks for; `make docs` runs it over the site itself."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_audit", ROOT / "docs/site/audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


AUDIT = _audit()
GOOD = '<h1 id="top">A</h1><a href="#top">up</a><a href="b.html#end">b</a><a href="https://example.org">out</a>'


def _site(folder: Path, extra: str = "", style: str = "") -> Path:
    (folder / "a.html").write_text(GOOD + extra)
    (folder / "b.html").write_text('<p id="end"><img src="p.svg" alt="a plan"></p>')
    (folder / "p.svg").write_text("<svg/>")
    (folder / "s.css").write_text(style)
    return folder


def test_a_sound_site_passes(tmp_path: Path) -> None:
    assert (
        AUDIT.problems(_site(tmp_path, '<link href="s.css"><img src="data:," alt="x">', "p { background: url(p.svg) }"))
        == []
    )


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        (
            '<script src="https://cdn.example.org/x.js"></script>',
            "a.html fetches https://cdn.example.org/x.js from elsewhere",
        ),
        ('<link href="//fonts.example.org/f.css">', "a.html fetches //fonts.example.org/f.css from elsewhere"),
        ('<script src="x.js"></script>', "a.html uses x.js, which doesn't exist"),
        ('<img src="p.svg">', "a.html: the picture p.svg has no alt text"),
        ('<a href="c.html">c</a>', "a.html links to c.html, which doesn't exist"),
        ('<a href="#bottom">c</a>', "a.html links to #bottom: that page has no such anchor"),
        ('<a href="b.html#begin">c</a>', "a.html links to b.html#begin: that page has no such anchor"),
        (
            f'<div class="highlight-python"><pre>{"x" * 90}\n<b>{"y" * 70}</b>{"z" * 21}\n</pre></div>',
            f"a.html: a line of code has over 90 columns: {'y' * 60} ...",
        ),
    ],
)
def test_what_is_wrong_with_a_page_is_named(tmp_path: Path, extra: str, says: str) -> None:
    assert AUDIT.problems(_site(tmp_path, extra)) == [says]


@pytest.mark.parametrize(
    "style", ['@import "https://example.org/a.css";', "p { background: url('//example.org/a.png') }"]
)
def test_a_style_from_elsewhere_is_named(tmp_path: Path, style: str) -> None:
    assert AUDIT.problems(_site(tmp_path, style=style)) == ["s.css fetches something from elsewhere"]


def test_output_may_be_wider_because_it_is_broken_into_lines(tmp_path: Path) -> None:
    assert AUDIT.problems(_site(tmp_path, f'<div class="highlight-text"><pre>{"x" * 200}</pre></div>')) == []


def test_an_empty_folder_fails(tmp_path: Path) -> None:
    assert AUDIT.problems(tmp_path) == [f"{tmp_path} has no page"]
