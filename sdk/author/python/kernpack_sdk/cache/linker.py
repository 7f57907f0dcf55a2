"""The files that the linker reads, and where it may have looked for libraries."""

from __future__ import annotations

import os
from pathlib import Path

from kernpack_sdk.cache import rules
from kernpack_sdk.cache.request import Request

_OPTION = "--dependency-file"


def options(request: Request, listed: Path) -> list[str]:
    """Has the linker list what it reads. GNU ld has the option since 2.35; gold, lld and mold have it."""
    empty = listed.with_suffix(".a")
    empty.touch()  # nvcc calls no linker without a file
    flags = [*request.compile_flags, *request.link_flags]
    if _OPTION not in request.compiler.ask(*flags, "-Xlinker", "--help", str(empty), "-o", str(listed)):
        return []
    return ["-Xlinker", _OPTION, "-Xlinker", str(listed)]


def files(listed: Path, made: Path) -> set[str] | None:
    """The files that the linker read; None if the linker doesn't list them."""
    return rules.of_linker(listed, made) if listed.is_file() else None


def places(request: Request, read: set[str] | None) -> set[str]:
    """Where a file of the same name would be linked instead, or was; without a list, those that -l options ask for."""
    words = request.words()
    if read is None:
        asked = {word[2:] for word in words if word.startswith("-l")}
        names = {word[1:] if word.startswith(":") else f"lib{word}.so" for word in asked}
    else:
        names = {os.path.basename(path) for path in read}
    libraries = {stem for stem, kind in map(os.path.splitext, names) if kind in (".so", ".a")}
    names |= {stem + kind for stem in libraries for kind in (".so", ".a")}
    folders = [word[2:] for word in words if word.startswith("-L")]
    for line in request.compiler.ask("-print-search-dirs").splitlines():
        if line.startswith("libraries: "):
            folders += line.removeprefix("libraries: ").removeprefix("=").split(":")
    return {os.path.abspath(os.path.join(folder, name)) for folder in folders for name in names}
