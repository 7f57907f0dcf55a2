"""A request to the compiler, with all its inputs except files: the first half of a key."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import kernpack_sdk
from kernpack_sdk import shared_object
from kernpack_sdk.cache import machine
from kernpack_sdk.cache.compiler import Compiler, identity

# A new number when what keys or records hold changes.
_FORMAT = "kernpack.compiled.3"

# Variables that gcc, clang, nvcc, their linkers and the usual wrappers read.
VARIABLES = (
    *("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX"),
    *("LIBRARY_PATH", "LD_LIBRARY_PATH", "LD_RUN_PATH", "LDEMULATION", "SOURCE_DATE_EPOCH", "CCC_OVERRIDE_OPTIONS"),
    *("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CUDA_PATH", "CUDA_HOME"),
    *("LANG", "LC_ALL", "LC_CTYPE", "CCACHE_COMPILER", "CCACHE_PREFIX", "CCACHE_PATH"),
)


@dataclass(frozen=True)
class Request:
    """One run of a compiler: the text of a source, made into `kind` (".so" or ".dll", or ".o" without linking)."""

    text: str
    compiler: Compiler
    compile_flags: Sequence[str]
    link_flags: Sequence[str] = ()
    objects: Sequence[Path] = ()
    kind: str = shared_object.SUFFIX
    suffix: str = ".cc"  # of the source: ".cc", ".cu"

    @property
    def cuda(self) -> bool:
        return self.suffix == ".cu"

    def words(self) -> list[str]:
        """The command, files named in response files (@file) included."""
        return list(_expanded([*self.compiler.words, *self.compile_flags, *map(str, self.objects), *self.link_flags]))

    def key(self) -> str:
        """Names the request."""
        parts = [_FORMAT, kernpack_sdk.__version__, self.kind, self.suffix, self.text]
        for words in (self.compiler.words, self.compile_flags, self.link_flags, self.objects):
            parts += [str(len(words)), *map(str, words)]
        parts += [f"{name}={os.environ.get(name)}" for name in VARIABLES]
        parts += _below_here([*self.words(), *_folders_of_variables()])
        parts += [identity(program) for program in (*self.compiler.words, *self._tools())]
        parts += [self.compiler.about, machine.processor(), machine.gpus() if self.cuda else ""]
        digest = hashlib.sha256()
        for part in parts:
            data = part.encode("utf-8", "surrogateescape")
            digest.update(b"%d:" % len(data) + data)  # lengths keep neighbours apart
        return digest.hexdigest()

    def _tools(self) -> list[str]:
        """Programs that compilers look for on PATH."""
        linkers = [f"ld.{word.partition('=')[2]}" for word in self.words() if word.startswith("-fuse-ld=")]
        return ["as", "ld", *linkers, *(("gcc", "g++") if self.cuda else ())]


def named_files(words: Iterable[str]) -> list[str]:
    """Files that options name: objects, libraries, -specs=file, -Wl,--version-script=file, a program among the words."""
    return sorted({os.path.abspath(part) for word in words for part in _parts(word) if os.path.isfile(part)})


def _expanded(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        yield word
        if word.startswith("@") and os.path.isfile(word[1:]):
            yield from _expanded(shlex.split(Path(word[1:]).read_text(encoding="utf-8", errors="replace")))


def _parts(word: str) -> Iterator[str]:
    """The parts of a word that may be a path: the whole word, and the parts after a short option (-I.), "=" or ","."""
    yield word
    for option in ("-isystem", "-iquote", "-idirafter", "@"):
        if word.startswith(option):
            yield word[len(option) :]
    if word.startswith("-"):
        yield word[2:]
        for piece in word.split(","):
            yield piece
            yield from piece.split("=")[1:]
        yield word.partition("=")[2]


def _below_here(words: Iterable[str]) -> list[str]:
    """Relative paths mean other files in another folder."""
    relative = {part for word in words for part in _parts(word) if part and not os.path.isabs(part)}
    return sorted(os.path.abspath(part) for part in relative if os.path.exists(part))


def _folders_of_variables() -> Iterator[str]:
    for name in VARIABLES:
        value = os.environ.get(name)
        if value and name.endswith("PATH"):
            yield from (folder or "." for folder in value.split(os.pathsep))
