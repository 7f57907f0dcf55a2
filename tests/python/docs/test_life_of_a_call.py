"""docs/call.md names functions and files; they must exist, and the functions stand in the files that their row names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/call.md").read_text(encoding="utf-8")
# Where the page's short names of files are looked for.
FOLDERS = ("", "bindings/python/src", "ffi/include", "ffi/include/kernpack/signature", "ffi/src/guests/xla")
HOPS = [
    (cells[1].strip(), cells[2], cells[3])
    for line in PAGE.partition("## The same steps")[0].splitlines()
    if (cells := line.split("|")) and len(cells) == 7 and cells[1].strip().isdigit()
]
STEPS = [
    cells[2]
    for line in PAGE.partition("| step | code |")[2].partition("\n\n")[0].splitlines()[2:]
    if (cells := line.split("|"))
]


def _spans(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def _is_file(span: str) -> bool:
    return re.fullmatch(r"[\w/*]+\.(c|cc|h)", span) is not None


def _files(span: str) -> list[Path]:
    return [path for folder in FOLDERS for path in (ROOT / folder).glob(span)]


def _missing(names: list[str], files: list[str]) -> list[str]:
    """The names that no file has."""
    text = "".join(path.read_text(encoding="utf-8") for span in files for path in _files(span))
    return [name for name in names if not re.search(rf"\b{name}\b", text)]


def test_every_file_that_the_page_names_exists() -> None:
    named = [span for span in _spans(PAGE) if _is_file(span)]
    assert len(named) > 20
    assert [span for span in named if not _files(span)] == []


def test_the_hops_are_numbered_one_after_the_other() -> None:
    assert [int(number) for number, _, _ in HOPS] == list(range(1, 13))


@pytest.mark.parametrize(("number", "hop", "where"), HOPS, ids=[number for number, _, _ in HOPS])
def test_the_functions_of_a_hop_are_in_its_files(number: str, hop: str, where: str) -> None:
    names, files = _spans(hop), [span for span in _spans(where) if _is_file(span)]
    assert files or where.strip() == "yours", f"hop {number} names no file"
    assert _missing(names, files) == []


@pytest.mark.parametrize("code", STEPS)
def test_the_functions_of_a_step_are_in_its_file(code: str) -> None:
    spans = _spans(code)
    assert (
        _missing([span for span in spans if not _is_file(span)], list(filter(_is_file, spans)) or ["ffi/**/*.cc"]) == []
    )
