"""Reads the lists that tools write: rules for make, with the files that were read behind the colon."""

from __future__ import annotations

import os
import re
from pathlib import Path


def of_compiler(listed: Path) -> list[str]:
    """The files of the first rule; -MP adds others. GCC, clang, nvcc and GNU as escape what make would take for something else."""
    rule = _text(listed).replace("\\\n", " ").partition("\n")[0].partition(": ")[2]
    return [_here(_unescaped(word)) for word in re.split(r"(?<!\\)\s+", rule.strip()) if word]


def of_linker(listed: Path, made: Path) -> set[str]:
    """Not all linkers escape spaces, but each file has a line: of the list (GNU ld, gold, lld), or of a rule without files (mold).

    Without files that are gone: objects between two programs.
    """
    names = {line.removesuffix("\\").strip().removesuffix(":") for line in _text(listed).splitlines()}
    paths = {_here(name) for raw in names if raw for name in (raw, _unescaped(raw))}
    return set(filter(os.path.isfile, paths)) - {str(made)}


def _text(listed: Path) -> str:
    return os.fsdecode(listed.read_bytes())


def _unescaped(word: str) -> str:
    return re.sub(r"\\([ #\\])", r"\1", word).replace("$$", "$")


def _here(path: str) -> str:
    """An absolute path, spelled as the tool spells it: what stands behind a folder is the name that was looked for there."""
    return os.path.join(os.getcwd(), path)
