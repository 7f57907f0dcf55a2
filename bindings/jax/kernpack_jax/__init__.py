"""Kernpack functions in JAX programs: ``k.rms_norm(x, w)`` on JAX arrays, eagerly and under ``jax.jit``.

You don't need to import this package: it is imported when a function is first called with a JAX array. ``ops(k)`` returns
the functions of a module explicitly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import kernpack._core as _core

from . import _eager, _function
from ._errors import errors
from ._export import deserialize, export

__all__ = ["deserialize", "errors", "export", "ops"]


class Ops:
    """The functions of one module, for JAX arrays."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = _function.of(getattr(self._module, name))

        def op(*args: object, **kwargs: object) -> object:
            if args and isinstance(args[0], jax.Array):
                return function.info.callable(*args, **kwargs)
            return _eager.call(function, args, kwargs)

        op.__name__ = op.__qualname__ = name
        op.__doc__ = function.info.callable.__doc__
        setattr(self, name, op)
        return op

    def __dir__(self) -> list[str]:
        return list(self._module.functions)


def ops(module: Any) -> Ops:
    """The functions of a loaded module as functions of JAX arrays only."""
    return Ops(module)


def _hook(callable_: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object], why: str) -> object:
    """The call core calls this function when it meets a JAX array."""
    del why
    return _eager.call(_function.of(callable_), args, kwargs)


_core.set_hook("jax", _hook)
