"""The files that only the assembler reads (.incbin, .include), which no compiler lists among its headers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from kernpack_sdk.cache.request import Request

_READS = re.compile(rb"incbin|\.include\b")


def options(request: Request, listed: Path) -> list[str]:
    """Has GCC's assembler write a rule for make. clang has no such option; nvcc, and a linker that optimizes (-flto), run the assembler
    several times, each run over the file of the one before."""
    if request.cuda or not request.compiler.is_gnu or any(word.startswith("-flto") for word in request.words()):
        return []
    return ["-Xassembler", "--MD", "-Xassembler", str(listed)]


def files(listed: Path, sources: Iterable[str]) -> set[str] | None:
    """What the assembler read besides the compiler's output. None where it wasn't asked, or ccache spared the run, and one of the
    sources has it read files: the result then depends on what nobody knows."""
    if listed.is_file():
        read = files_of(os.fsdecode(listed.read_bytes()))
        return set(filter(os.path.isfile, read))  # not the compiler's output, which is gone, and names that #line gave
    return None if any(_READS.search(_content(source)) for source in sources) else set()


def files_of(rule: str) -> list[str]:
    """The files that a rule for make names behind its colon."""
    words = re.split(r"(?<!\\)\s+", rule.replace("\\\n", " ").partition(": ")[2].strip())
    return [os.path.abspath(re.sub(r"\\([ #\\])", r"\1", word).replace("$$", "$")) for word in words if word]


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b".incbin"
