"""The files that only the assembler reads (.incbin, .include), which no compiler lists among its headers."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from kernpack_sdk.cache import rules
from kernpack_sdk.cache.request import Request

_READS = (b"incbin", b".include ", b".include\t", b".include\\")  # a name stands between quotes, which C++ escapes


def options(request: Request, listed: Path) -> list[str]:
    """Has GNU as write a rule for make. clang's own assembler has no such option; nvcc, and a linker that optimizes (-flto), run the
    assembler several times, each run over the file of the one before."""
    if request.cuda or not request.compiler.is_gnu or any(word.startswith("-flto") for word in request.words()):
        return []
    return ["-Xassembler", "--MD", "-Xassembler", str(listed)]


def files(listed: Path, preprocessed: bytes) -> set[str] | None:
    """The files that the assembler read besides the compiler's output. None if the code makes it read files, but it didn't list them, or
    ccache skipped the run: the result then depends on unknown files."""
    if listed.is_file():
        # Not the compiler's output, which is gone, and names that #line gave.
        return set(filter(os.path.isfile, rules.of_compiler(listed)))
    # Strings side by side are one, also across line markers: ".inc" "bin".
    code = b"".join(line for line in preprocessed.splitlines() if not line.startswith(b"#"))
    text = b"".join(part for part in code.split(b'"') if not part.isspace())
    return None if any(word in text for word in _READS) else set()


def places(data: Iterable[str], folders: Iterable[str]) -> set[str]:
    """Where such files were looked for: in the working folder, then in those of -I."""
    all_folders = [os.getcwd(), *folders]
    names = {path.removeprefix(f"{folder}/") for path in data for folder in all_folders}
    return {os.path.join(folder, name) for folder in all_folders for name in names}
