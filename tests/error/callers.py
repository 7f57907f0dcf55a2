"""The frameworks that the same wrong call is made from: each makes its own array of a NumPy one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest


def _numpy(array: np.ndarray) -> Any:
    return array


def _torch(array: np.ndarray) -> Any:
    import torch

    return torch.from_numpy(array)


def _jax(array: np.ndarray) -> Any:
    jnp = pytest.importorskip("jax.numpy", reason="jax is not installed")
    return jnp.asarray(array)


def _kernpack(array: np.ndarray) -> Any:
    from kernpack import _core

    return _core.as_tensor(array)


CALLERS: dict[str, Callable[[np.ndarray], Any]] = {
    "numpy": _numpy,
    "torch": _torch,
    "jax": _jax,
    "kernpack": _kernpack,
}


class Arrays:
    """Arrays of one framework, made when asked for; `made` are those that a call was given."""

    def __init__(self, caller: str) -> None:
        self.caller = caller
        self.made: list[Any] = []

    def __call__(self, *shape: int, dtype: Any = np.float32) -> Any:
        self.made.append(CALLERS[self.caller](np.zeros(shape, dtype)))
        return self.made[-1]
