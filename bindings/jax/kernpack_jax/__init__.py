"""Kernpack functions in JAX programs: ``k.rms_norm(x, w)`` on JAX arrays, eagerly and under ``jax.jit``.

Importing this package is not needed: the first JAX array given to a function does it. ``ops(k)`` gives the same functions
explicitly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import kernpack._core as _core

from . import _function, _op
from ._errors import errors

__all__ = ["errors", "ops"]


class Ops:
    """The functions of one module, for JAX arrays."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        info = getattr(self._module, name).__self__

        def op(*args: object, **kwargs: object) -> object:
            return _op.call(_function.find(info.qualified_name), args, kwargs)

        op.__name__ = op.__qualname__ = name
        op.__doc__ = info.__doc__
        setattr(self, name, op)
        return op

    def __dir__(self) -> list[str]:
        return list(self._module.functions)


def ops(module: Any) -> Ops:
    """The functions of a loaded module as functions of JAX arrays only."""
    return Ops(module)


def _hook(callable_: Any, args: Sequence[object], kwargs: Mapping[str, object], why: str) -> object:
    return _op.call(_function.find(callable_.__self__.qualified_name), args, kwargs)


_core.set_hook("jax", _hook)
