"""A program as a function: a module like any other."""

from __future__ import annotations

from typing import Any

import kernpack
from kernpack import _core
from kernpack._load import announce

from kernpack_compiler._native import program as _native


class ProgramFunction(kernpack.Module):
    """A module whose one function is a program; Executable.as_module() makes one."""

    def __init__(self, executor: _native.Executor, name: str) -> None:
        super().__init__(_core.adopt(executor.as_module(name)), "", by_path=True)
        announce(self)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(f"cannot pickle module {self.name}: its program is in this process alone")
