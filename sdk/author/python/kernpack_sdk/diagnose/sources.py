"""The authors' code: lines of their sources, and their KP_EXPORT lines."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable
from pathlib import Path

from .blocks import places

STRING = r'"(?:[^"\\]|\\.)*"'
_TEXT = rf"(?:[A-Z_]\w*\s+)*{STRING}(?:\s*(?:{STRING}|[A-Za-z_]\w*))*|(?<=[,\s])[A-Z_][A-Z0-9_]+"
_EXPORT = re.compile(rf'\s*KP_EXPORT\w*\s*\(\s*(?:"[^"]*"\s*,\s*|KP_TARGET\s*,\s*)?(\w+)\s*,\s*([^";]*?)({_TEXT})\s*\)')
_ID = re.compile(r"\bkp_(?:text|tag)_(\d+_\d+)\b")  # of one KP_EXPORT, in the names that it declares
_sources: dict[str, list[str]] = {}  # texts that lie in no file of that name: load_inline's


def add_source(name: str, text: str) -> None:
    """The text of a source that a `#line` gives a name which isn't a file's."""
    _sources[name] = text.splitlines()


def read_lines(file: str) -> list[str]:
    """Of an author's source; none of the SDK's, or of what can't be read."""
    if "/include/kernpack/" in file:
        return []
    try:
        return _sources.get(file) or Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def read_line(file: str, line: int) -> str:
    return "".join(read_lines(file)[line - 1 : line]) if line > 0 else ""


class Export:
    """A KP_EXPORT in the author's source. function: the C++ function. text: None where it isn't known."""

    def __init__(self, file: str, line: int, name: str, function: str, text: str | None) -> None:
        self.where, self.name, self.function, self.text = f"{file}:{line}", name, function, text

    def parameter(self, index: int) -> str:
        """The name of the contract's parameter or result that stands at this place of the C++ function."""
        names = re.findall(
            r"(?:^|[(,*])\s*(\w+)!?\s*:", re.sub(r"\[[^\]]*\]|\{[^}]*\}|\"[^\"]*\"", "", self.text or "")
        )
        return names[index] if index < len(names) else ""


class Exports:
    """Which export a block is about. preprocess: the source after its macros; asked where the source's own text doesn't say."""

    def __init__(self, preprocess: Callable[[], str] | None = None) -> None:
        self._preprocess = preprocess

    def of(self, block: str) -> Export | None:
        found = next(filter(None, (_read(p.file, p.line) for p in places(block))), None)
        if found and found.text is not None:
            return found
        return self._expanded(block) or found

    def _expanded(self, block: str) -> Export | None:
        """Of an export that a macro makes, or whose contract is made by one: what the preprocessor made of it."""
        identity = _ID.search(block)
        place = next((p for p in places(block) if not p.ours), None)
        if identity is None or place is None:
            return None
        made = self._preprocessed
        name = re.search(rf"\bkp_tag_{identity[1]}\b[^}}]*?\bfunction\(\) *\{{ *return *\"([^\"]*)\"", made)
        if name is None:
            return None
        text = re.search(rf"\bkp_text_{identity[1]}\b[^}}]*?\bkText *= *((?:{STRING}\s*)+);", made)
        fits = re.search(rf"\bFits<kp_tag_{identity[1]}\b *, *decltype\(&([\w:]+)\)", made)
        function = fits[1] if fits else ""
        return Export(place.file, place.line, name[1], function, literal(text[1]) if text else None)

    @functools.cached_property
    def _preprocessed(self) -> str:
        return self._preprocess() if self._preprocess else ""


def _read(file: str, line: int) -> Export | None:
    lines = read_lines(file)
    for first in (line, line - 1, line - 2, line - 3):  # a macro over several lines is named by one of them
        if 0 < first <= len(lines):
            found = _EXPORT.match("\n".join(lines[first - 1 : first + 12]))
            if found and first + found[0].count("\n") >= line:
                function = found[2].strip().removesuffix(",").strip()
                return Export(file, first, found[1], function, literal(_replaced(found[3], lines)))
    return None


def _replaced(text: str, lines: list[str], depth: int = 0) -> str | None:
    """String literals and macros with the macros' values in place of them; None where the source doesn't define one."""
    source = "\n".join(lines).replace("\\\n", " ")
    whole: list[str] = []
    for part in re.findall(rf"{STRING}|\w+", text):
        if not part.startswith('"'):
            value = re.search(
                rf"^[ \t]*#[ \t]*define[ \t]+{part}[ \t]+((?:{STRING}|\w+|[ \t]+)+)$", source, re.MULTILINE
            )
            part = _replaced(value[1], lines, depth + 1) if value and depth < 8 else None
        if part is None:
            return None
        whole.append(part)
    return " ".join(whole)


def literal(text: str | None) -> str | None:
    """Adjacent C string literals as one text."""
    if text is None:
        return None
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"', text)
    try:
        return "".join(ast.literal_eval(f'"{part}"') for part in parts)
    except (ValueError, SyntaxError):
        return "".join(parts)
