"""The report in place of a compiler's output: its first mistake in plain words first, in few lines."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

from . import brackets, common, contract, names
from .blocks import (
    HEAD,
    SAYS_LITTLE,
    SAYS_NOTHING,
    SHOW_ALL,
    asserted,
    assertion,
    blocks,
    find_errors,
    find_place,
    is_error,
    places,
)
from .sources import Export, Exports, read_line

_LINES, _WIDTH = 15, 200  # nvcc shows lines with all that macros made of them
_NEEDS_CXX17 = re.compile(r"#error .*need C\+\+17")
_ENDS = re.compile(r"ld returned 1 exit status|linker command failed|compilation terminated|too many errors emitted")
_VARIABLE = re.compile(r"\b([a-z_]\w*)\s*(?=[,)=;{])")
_NAMED = re.compile(r"[\u2018'\"](\w+)[\u2019'\"]")


def with_diagnosis(output: str, preprocess: Callable[[], str] | None = None) -> str:
    """The compiler's output with what can be said in plain words first, and without what only follows from that; at most 15 lines.
    preprocess: gives the source after its macros."""
    said = _explained(output, Exports(preprocess))
    explained = any(text.startswith(HEAD) for text in said)
    if not said or (not explained and output.count("\n") <= _LINES):
        return output
    if _shows_all():
        return (
            "\n\n".join([*(text for text in said if text.startswith(HEAD)), "What the compiler said:", output]) + "\n"
        )
    return _cut(said, output.count("\n"))


def lifted(output: str) -> str:
    """A build's output with the diagnoses, which the compilers' runs printed somewhere in it, at its head; each once, however many
    variants of a source were compiled."""
    found = re.findall(rf"^{HEAD}.*(?:\n(?=.).*)*", output, re.MULTILINE)
    found = [text for text in dict.fromkeys(found) if ": " in text.removeprefix(HEAD)]
    if not found:
        return with_diagnosis(_without_stacks(output))
    if _shows_all():
        for text in found:
            output = output.replace(text + "\n", "")
        return "\n\n".join([*found, output])
    rest = output
    for text in found:
        rest = rest.replace(text, "")
    unexplained = (block for block in blocks(rest) if not _ends(block) and not _in_headers(block))
    left = {contract.plain(find_errors(block)): block for block in unexplained}  # variants have namespaces of their own
    at = {text: output.find(text) for text in found}
    at |= {_shortened(block): output.find(find_errors(block)) for block in left.values()}
    return _cut(sorted(at, key=at.__getitem__), output.count("\n"))


def _shows_all() -> bool:
    return os.environ.get(SHOW_ALL) == "1"


def _cut(texts: list[str], whole: int) -> str:
    """The texts as far as the lines go, and how many lines there were beside them."""
    kept: list[str] = []
    left = _LINES - 1  # for the note
    for text in texts:
        lines = text.splitlines()
        if left <= 1 or (kept and len(lines) > left):
            break
        kept.append("\n".join(lines[:left]))
        left -= len(lines) + 1
    shown = "\n\n".join(kept)
    beyond = whole - shown.count("\n") - 1
    if beyond > 0:
        count = "1 more line of output is" if beyond == 1 else f"{beyond} more lines of output are"
        shown += f"\n\n({count} left out; set {SHOW_ALL}=1 to see all)"
    return shown + "\n"


def _explained(output: str, exports: Exports) -> list[str]:
    """A text for each mistake: authors' own assertions, then the others as the compiler met them, but for those that only follow from
    one before."""
    every = list(blocks(output))
    for block in every:
        if _NEEDS_CXX17.search(block):
            return [f"{HEAD}{_CXX17}"]
    for block in every:
        if lost := brackets.lost(block):
            return [lost, *([] if _in_headers(block) else [_shortened(block)])]
    if every and (lost := brackets.semicolon(every[0])):
        return [lost]
    own = dict.fromkeys(filter(None, map(asserted, every)))
    texts = dict(own)
    inner: dict[str, None] = {}
    seen = _Seen()
    for block in every:
        export = exports.of(block)
        if asserted(block) or _says_nothing(block):
            continue
        if not seen.explains(block, export):
            said = _diagnosis(block, export)
            if not said and _in_headers(block):
                inner[_shortened(block)] = None
                continue
            texts[said or _shortened(block)] = None
            if said and export:
                seen.exports.add(export.where)
        seen.add(block)
    return list(texts or inner)


def _in_headers(block: str) -> bool:
    """Returns true if an error is in a header of ours. It follows from a mistake that another error is about, as a rule a later one."""
    return any(place.ours for place in places(find_errors(block)))


def _ends(block: str) -> bool:
    return _ENDS.search(find_errors(block)) is not None


def _says_nothing(block: str) -> bool:
    if contract.reason(block):
        return False
    return bool(_ends(block) or SAYS_LITTLE.search(block) or SAYS_NOTHING.search(assertion(block)))


class _Seen:
    """The mistakes so far."""

    def __init__(self) -> None:
        self.exports: set[str] = set()
        self._lines: set[tuple[str, int]] = set()
        self._variables: set[str] = set()  # whose type isn't declared: what compilers say of them means nothing

    def add(self, block: str) -> None:
        if place := find_place(block):
            self._lines.add((place.file, place.line))
            if names.undeclared(block):
                self._variables |= set(_VARIABLE.findall(_declared(place.file, place.line)))

    def explains(self, block: str, export: Export | None) -> bool:
        """Returns true if an error only follows from one before: on the line of one, about what such a line declares, or about an export that
        is wrong anyway."""
        if export is not None and export.where in self.exports:
            return True
        place = find_place(block)
        if place is not None and (place.file, place.line) in self._lines:
            return True
        about = {export.function} if export is not None else set(_NAMED.findall(find_errors(block)))
        if any(about & _words(_declared(file, line)) for file, line in self._lines):
            return True
        used = _words(read_line(place.file, place.line)) if place else set()
        return bool(self._variables & used) and not _diagnosis(block, export)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


_CXX17 = (
    "Kernpack's headers need C++17, and the compiler was told an older standard: remove -std=... from its flags, or write "
    "-std=c++17 (in CMake, CMAKE_CXX_STANDARD 17)"
)


def _diagnosis(block: str, export: Export | None) -> str:
    if reason := contract.reason(block):
        return contract.unparsed(block, export, *reason)
    if spelled := common.spelling(block):
        return spelled
    if said := assertion(block):
        return "" if SAYS_NOTHING.search(said) else contract.misfit(block, export, said)
    return names.header(block) or names.exported(block) or common.said(block) or names.undeclared(block)


def _declared(file: str, line: int) -> str:
    """A line as far as it declares something: without what calls and values come after `=`."""
    text = read_line(file, line)
    return "" if text.lstrip().startswith("KP_") else text.partition("=")[0]


def _shortened(block: str) -> str:
    """An error as the compiler says it, without the notes that only name headers."""
    chunks = list(_chunks(block))
    kept = [chunk for chunk in chunks if is_error(chunk[0])]
    for chunk in chunks:
        at = next(places(chunk[0] + " "), None)
        if chunk not in kept and at and at.authors and "candidate" not in chunk[0]:
            kept.append(chunk)
    lines = [line for chunk in kept for line in (chunk if chunk[1:] else [*chunk, *_shown(chunk[0])])]
    return "\n".join(line if len(line) <= _WIDTH else f"{line[:_WIDTH]} ..." for line in lines[: _LINES - 4])


def _shown(error: str) -> Iterator[str]:
    """The line of source, and the place in it, where the compiler shows none: load_inline's text lies in no file."""
    at = next(places(error), None)
    if at is not None and at.authors and (text := read_line(at.file, at.line)):
        yield f"{at.line:5} | {text}"
        if at.column:
            indent = re.sub(r"[^\t]", " ", text[: at.column - 1])
            yield f"      | {indent}^"


def _chunks(block: str) -> Iterator[list[str]]:
    """A line that is an error or names a place, and the lines of source that are shown under it, which are indented."""
    chunk: list[str] = []
    for line in block.splitlines():
        if is_error(line) or next(places(line + " "), None) is not None:
            if chunk:
                yield chunk
            chunk = [line]
        elif chunk and line[:1].isspace() and line.strip():
            chunk.append(line)
        elif chunk:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


_CMAKE = re.compile(
    r"^CMake Error at (?P<file>\S+):(?P<line>\d+) \((?P<what>\w+)\):\n(?P<text>(?:(?:  .*)?\n)+?)"
    r"(?:Call Stack \(most recent call first\):\n(?P<stack>(?:  .*\n)*)|(?=\S)|\Z)",
    re.MULTILINE,
)


def _without_stacks(output: str) -> str:
    """CMake's errors, each with the author's line and without the stack of calls; the rest of the output where it has none."""
    found = list(_CMAKE.finditer(output))
    if not found or _shows_all():
        return output
    said = dict.fromkeys(_of_cmake(error) for error in found)
    return _cut(list(said), output.count("\n"))


def _of_cmake(error: re.Match[str]) -> str:
    calls = re.findall(r"^  (\S+:\d+) ", error["stack"] or "", re.MULTILINE)
    place = calls[-1] if calls else f"{error['file']}:{error['line']}"
    text = re.sub(r"^  ", "", error["text"].strip("\n"), flags=re.MULTILINE)
    if error["what"] == "message" and not re.search(r"^\s", text, re.MULTILINE):  # CMake breaks lines of messages
        text = "\n\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n{2,}", text))
    return f"{HEAD}{place}: {text.strip()}"
