"""Work that is possible only after torch's larger parts are imported, and that must not import them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernpack._imports import when_imported
from kernpack._private.torch.lowerings import INDUCTOR

_COMPILER = "torch._dynamo"
_SHARDING = "torch.distributed.tensor"
_modules: list[Any] = []
_functions: list[Any] = []
_for_modules: list[Callable[[Any], None]] = []
_for_functions: list[Callable[[Any], None]] = []


def add_module(operators: Any) -> None:
    """Does for a module's operators what is due, now or when its time comes."""
    _modules.append(operators)
    for step in _for_modules:
        step(operators)


def add_function(function: Any) -> None:
    """The same for one function."""
    _functions.append(function)
    for step in _for_functions:
        step(function)


def watch() -> None:
    """Called once."""
    when_imported(_COMPILER, _compiler)
    when_imported(INDUCTOR, _inductor)
    when_imported(_SHARDING, _sharding)


def _compiler() -> None:
    from ._compiler import substitute

    _for_modules.append(substitute)
    for operators in _modules:
        substitute(operators)


def _inductor() -> None:
    from ._operator import lower

    _for_functions.append(lower)
    for function in _functions:
        lower(function)


def _sharding() -> None:
    from ._sharding import declare

    _for_functions.append(declare)
    for function in _functions:
        declare(function)
