"""Running a primitive outside of any program: op by op, as under jax.disable_jit."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax


def compiled(primitive: Any, name: str, *arrays: Any, **params: Any) -> list[Any]:
    """The implementation of a primitive that only XLA can run: a program of this one call, compiled once for each `params`.

    jax.disable_jit would have it run op by op, which leads here again, so it does not hold inside.
    """
    with jax.disable_jit(False):
        return _program(primitive, name, tuple(params.items()))(*arrays)


@functools.lru_cache(maxsize=4096)
def _program(primitive: Any, name: str, params: tuple[tuple[str, Any], ...]) -> Callable[..., list[Any]]:
    def call(*arrays: Any) -> list[Any]:
        return primitive.bind(*arrays, **dict(params))

    call.__name__ = name
    return jax.jit(call)
