"""A program as a function: a module like any other."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import kernpack
from kernpack import _core
from kernpack._load import announce

from kernpack_compiler._native import program as _native


class ProgramFunction(kernpack.Module):
    """A module whose only function is a program; Executable.as_module() makes one. export_wheel([module], ...) accepts it."""

    def __init__(self, executable: _native.Executable, name: str) -> None:
        super().__init__(_core.adopt(executable.as_module(name)), "", by_path=True)
        self._executable = executable
        announce(self)

    def export_library(self, path: str | os.PathLike[str]) -> Path:
        """Writes a shared object that kernpack.load() loads, in processes that have loaded the modules whose functions it calls.

        NotImplementedError for a program over several devices; ValueError for one that calls a foreign function; RuntimeError
        if there is no C compiler.
        """
        library = Path(path)
        self._executable.export_library(self.name, self.version, os.fspath(library.absolute()))
        return library

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            f"cannot pickle module {self.name}: its program is in this process alone; export_library() writes it"
        )
