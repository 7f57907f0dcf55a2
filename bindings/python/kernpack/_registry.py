"""The process's registry of named functions, which kernels and Python share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from kernpack import _core

_F = TypeVar("_F", bound=Callable[..., Any])


@overload
def register_func(name: str, function: _F, *, replace: bool = ...) -> _F: ...
@overload
def register_func(name: str, function: None = ..., *, replace: bool = ...) -> Callable[[_F], _F]: ...
def register_func(name: str, function: Any = None, *, replace: bool = False) -> Any:
    """Registers a callable under a name; as a decorator without `function`. ValueError when the name is taken."""
    if function is None:
        return lambda f: register_func(name, f, replace=replace)
    _core.global_set(name, function, replace)
    return function


def get_func(name: str) -> _core.Object:
    """The registered function, as a callable. KeyError when there is none."""
    found = _core.global_get(name)
    if found is None:
        raise KeyError(f"no function is registered as '{name}'")
    return found


def list_funcs() -> list[str]:
    """Names of all registered functions, sorted."""
    return _core.global_list()


def remove_func(name: str) -> None:
    """Forgets a registered function."""
    _core.global_drop(name)
