"""The comments of the public headers, as the reference shows them: each class says what it is and how it is used, and no comment needs
the one before it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs/site"))
import reference

HEADERS = [file for _, _, side, names in reference.CXX for file in reference.headers(side, names)]
FOR_KERNELS = [
    file
    for page, _, side, names in reference.CXX
    if page in ("cpp_values", "cpp_modules")
    for file in reference.headers(side, names)
]
_CLASS = re.compile(
    r"((?:^//[^\n]*\n)*)(?:^template <[^\n]*\n)?^(?:class|struct) (\w+)(?: final)?(?: : [^\n]*)? ?\{", re.MULTILINE
)
_NEIGHBOUR = re.compile(r"^\s*(?://|/\*) (?:The same|As above|Likewise|Ditto)[,.:; ]", re.MULTILINE)
# Parts of a table, arguments of a launch that its own use shows.
WITHOUT_USE = {"DTypeName", "DTypeOf", "Extent3", "LocalMemory"}


def _outside_detail(text: str) -> str:
    """The header without `namespace detail { ... }`, which the reference leaves out, as it does Traits."""
    return re.sub(r"^namespace detail \{.*?^\}  // namespace detail", "", text, flags=re.MULTILINE | re.DOTALL)


def classes(text: str) -> dict[str, str]:
    return {name: comment for comment, name in _CLASS.findall(_outside_detail(text)) if name != "Traits"}


def _says_little(name: str, comment: str) -> str | None:
    lines = [line.removeprefix("//") for line in comment.splitlines()]
    if not lines or not re.match(r" \w", lines[0]):
        return "expected a comment that begins with a sentence about the class"
    uses = [line for line in lines if line.startswith("   ")]
    if not uses and name not in WITHOUT_USE:
        return "expected lines of use in its comment, indented by two more spaces"
    return None


@pytest.mark.parametrize("header", FOR_KERNELS, ids=lambda file: file.name)
def test_a_class_says_what_it_is_and_shows_a_use(header: Path) -> None:
    found = {name: _says_little(name, comment) for name, comment in classes(header.read_text()).items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("header", HEADERS, ids=lambda file: str(file.relative_to(reference.ROOT)))
def test_no_comment_needs_its_neighbour(header: Path) -> None:
    assert _NEIGHBOUR.findall(header.read_text()) == []


def test_what_is_wrong_with_a_comment_is_found() -> None:
    text = (
        "// The same, writeable.\nclass A {\n};\n// A thing.\n//\n//   A a;\nclass B : public A {\n};\nclass C {\n};\n"
    )
    found = classes(text)
    assert list(found) == ["A", "B", "C"]
    assert _NEIGHBOUR.findall(text) == ["// The same,"]
    assert [_says_little(name, comment) is None for name, comment in found.items()] == [False, True, False]
