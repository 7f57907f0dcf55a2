"""What can only be done once torch's larger parts are imported, and must not be the reason that they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernpack._imports import when_imported

_COMPILER = "torch._dynamo"
_SHARDING = "torch.distributed.tensor"
_operators: list[Any] = []
_steps: dict[str, Callable[[Any], None]] = {}


def add(operators: Any) -> None:
    """Does for a module's operators what is due, now or when its time comes."""
    _operators.append(operators)
    for step in _steps.values():
        step(operators)


def watch() -> None:
    """Called once."""
    when_imported(_COMPILER, lambda: _start("compiler"))
    when_imported(_SHARDING, lambda: _start("sharding"))


def _start(name: str) -> None:
    if name == "compiler":
        from ._compiler import substitute as step
    else:
        from ._sharding import declare as step
    _steps[name] = step
    for operators in _operators:
        step(operators)
