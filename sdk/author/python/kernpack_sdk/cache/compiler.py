"""A compiler as it is at this moment: the same path may be another one tomorrow."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Sequence


class Compiler:
    """A command, wrappers first: ("ccache", "g++"). Make one for each call: what it says is remembered."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)

    @functools.cached_property
    def about(self) -> str:
        """Its version, and what it found on this machine: clang names the GCC whose headers it takes.

        Asked although the program's file is known: a wrapper may run another compiler than yesterday.
        """
        nvcc = any("nvcc" in os.path.basename(word) for word in self.words)
        return self.ask("--version") if nvcc else self.ask("-v")

    @property
    def is_gnu(self) -> bool:
        """True if the compiler takes GCC's options, according to its version text: `c++` may be clang."""
        return "clang version" not in self.about

    def ask(self, *words: str) -> str:
        """The output of the compiler, in English: in other languages, lists are translated."""
        run = subprocess.run(
            [*self.words, *words],
            env=os.environ | {"LC_ALL": "C"},
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
        )
        return run.stdout + run.stderr


def identity(program: str) -> str:
    """Which file a program is, and which state of it."""
    path = shutil.which(program)
    if path is None:
        return f"{program}: not found"
    state = os.stat(path)
    return f"{os.path.realpath(path)}: {state.st_ino} {state.st_size} {state.st_mtime_ns} {state.st_ctime_ns}"
