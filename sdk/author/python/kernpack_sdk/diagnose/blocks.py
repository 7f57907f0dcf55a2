"""A compiler's output, taken apart: one block of lines for each error, and the places that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

HEAD = "kernpack: "
SHOW_ALL = "KERNPACK_COMPILER_OUTPUT"  # the variable that keeps all that the compiler says
SIGNS = (": error: ", ": fatal error: ", "undefined reference to ", "multiple definition of ", ": error #")
# GCC and clang: file:line:column: ...; nvcc's front end: file(line): ..., and for instantiations ... at line 3 of file
_PLACE = re.compile(
    r"^(?P<file>[^\s:(][^:\n(]*)(?::(?P<line>\d+):(?:(?P<column>\d+):)? |\((?P<nvcc>\d+)\): )"
    r"|\bat line (?P<at>\d+) of (?P<of>\S+)$",
    re.MULTILINE,
)
_ASSERTION = re.compile(
    r"error: static assertion failed(?: due to requirement '.*?')?(?:: | with )\"?([^\n\"].*?)\"?$", re.MULTILINE
)
_OURS = re.compile(r"KP_\w+: ")
# These say that there is a mistake; others of the same compilation say which.
SAYS_NOTHING = re.compile(r" does not fit the signature of |^kernpack: this signature does not compile")
SAYS_LITTLE = re.compile(r"error: variable or field [^\n]* declared void")


class Place(NamedTuple):
    file: str
    line: int
    column: int  # from 1; 0 where the compiler names none

    @property
    def ours(self) -> bool:
        return "/include/kernpack/" in self.file

    @property
    def authors(self) -> bool:
        return not self.ours and not self.file.startswith(("/usr/", "<"))


def places(text: str) -> Iterator[Place]:
    for found in _PLACE.finditer(text):
        if found["of"]:
            yield Place(found["of"], int(found["at"]), 0)
        else:
            yield Place(found["file"], int(found["line"] or found["nvcc"]), int(found["column"] or 0))


def is_error(line: str) -> bool:
    return any(sign in line for sign in SIGNS)


def blocks(output: str) -> Iterator[str]:
    """The lines of one error each, with the "In instantiation of" before it and the notes behind it."""
    lines: list[str] = []
    has_error = False
    for line in output.splitlines():
        starts = "In instantiation of" in line or "In file included from" in line
        error = is_error(line)
        if has_error and (starts or error):
            yield "\n".join(lines)
            lines, has_error = [], False
        lines.append(line)
        has_error = has_error or error
    if has_error:
        yield "\n".join(lines)


def find_errors(block: str) -> str:
    """The lines of a block that hold its error."""
    return "\n".join(filter(is_error, block.splitlines()))


def find_place(block: str) -> Place | None:
    """The author's line that a block is about: that of the error itself; where the error is in a header, the line that uses the
    author's outermost macro, else the first one named."""
    used = "\n".join(reversed(list(_expansions(block))))
    return next((p for text in (find_errors(block), used, block) for p in places(text) if not p.ours), None)


def _expansions(block: str) -> Iterator[str]:
    """GCC's notes behind an error on the macros that made its line, the innermost first; none of those that a later note has."""
    after_error = False
    for line in block.splitlines():
        if after_error and ": note: " in line:
            if "in expansion of macro" not in line:
                return
            yield line
        after_error = after_error or is_error(line)


def where(block: str) -> str:
    place = find_place(block)
    return f"{place.file}:{place.line}: " if place else ""


def assertion(block: str) -> str:
    """The text of the static_assert that failed; "" where none did."""
    found = _ASSERTION.search(block)
    return found[1] if found else ""


def asserted(block: str) -> str:
    """The text of a static_assert that isn't one of the SDK's about contracts: its author's own words, which go before ours."""
    found = _ASSERTION.search(block)
    if found is None or _OURS.match(found[1]) or SAYS_NOTHING.search(found[1]):
        return ""
    line = block[block.rfind("\n", 0, found.start()) + 1 : found.end()]
    return f"{HEAD}{where(line) or where(block)}{found[1]}"
