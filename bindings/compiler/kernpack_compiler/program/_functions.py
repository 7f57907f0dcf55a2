"""The functions that a program calls, by the names that its text has for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import kernpack

from kernpack_compiler._native import program as _native


class Foreign:
    """A Python function with a contract, which programs call like a kernel. Made by program.foreign()."""

    def __init__(self, name: str, signature: str, function: Callable[..., Any]) -> None:
        self.name = name
        self.signature = signature
        self.function = function
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Adds a step to the program that is being traced. RuntimeError outside of a trace; call `function` instead."""
        from kernpack_compiler.program._calls import call_foreign

        return call_foreign(self, arguments, named)

    def __repr__(self) -> str:
        return f"<foreign function {self.name}{self.signature}>"


Source: TypeAlias = "kernpack.Module | kernpack.FunctionInfo | Foreign"
_foreign: dict[str, Foreign] = {}


def foreign(name: str, signature: str) -> Callable[[Callable[..., None]], Foreign]:
    """Makes a Python function callable from programs, and registers it with kernpack.register_func().

    name: "package.function". signature: its contract (docs/signature.md).

    The function gets its parameters in order and then a destination for each result, kernpack.Tensors in memory of the CPU
    that are lent for the call: `np.add(a.numpy(), b.numpy(), out=out.numpy())`. It returns nothing.
    """
    if not isinstance(name, str) or not isinstance(signature, str):
        raise TypeError(
            f"program.foreign: expected a name and a signature as texts, got {type(name).__name__} and {type(signature).__name__}"
        )
    if not re.fullmatch(r"\w+(\.\w+)+", name, re.ASCII):
        raise ValueError(f"program.foreign: expected a name such as 'package.function', got {name!r}")

    def decorate(function: Callable[..., None]) -> Foreign:
        if not callable(function):
            raise TypeError(f"program.foreign: {name}: expected a function, got {type(function).__name__}")
        made = Foreign(name, signature, function)
        kernpack.register_func(name, function, replace=True)
        Functions([made])  # what is wrong with the contract is an error here
        _foreign[name] = made
        return made

    return decorate


class Functions:
    """A table for the planner and the executable, and what is behind each of its entries."""

    def __init__(self, sources: Iterable[Source] = ()) -> None:
        self.table = _native.FunctionTable()
        self._entries: dict[str, kernpack.FunctionInfo | Foreign] = {}
        for source in sources:
            self.add_all(source)

    def __iter__(self) -> Iterator[kernpack.FunctionInfo | Foreign]:
        return iter(self._entries.values())

    def add_all(self, source: Source) -> None:
        if isinstance(source, kernpack.Module):
            for name in source.functions:
                self.add(source.functions[name])
        elif isinstance(source, (kernpack.FunctionInfo, Foreign)):
            self.add(source)
        else:
            raise TypeError(
                f"program: functions: expected kernpack modules, functions of one (k.functions['f']) or foreign functions, "
                f"got {type(source).__name__}"
            )

    def add(self, function: kernpack.FunctionInfo | Foreign) -> str:
        """Its name in the program. ValueError when another function has that name."""
        name = function.name if isinstance(function, Foreign) else f"{function.module_name}.{function.name}"
        known = self._entries.get(name)
        if known is None:
            self._enter(name, function)
        elif _identity(known) != _identity(function):
            raise ValueError(
                f"program: two functions are named '{name}' ({known!r} and {function!r}); give one of their modules another name"
            )
        return name

    def _enter(self, name: str, function: kernpack.FunctionInfo | Foreign) -> None:
        if isinstance(function, Foreign):
            self.table.add_packed(name, function.signature, kernpack.get_func(name))
        else:
            self.table.add_loaded(function.handle)
        self._entries[name] = function


def _identity(function: kernpack.FunctionInfo | Foreign) -> object:
    return (function.name, function.signature) if isinstance(function, Foreign) else function.handle


def registered(name: str) -> Foreign | None:
    """The foreign function of that name that this process has."""
    return _foreign.get(name)
