"""A call of one function of kernpack_kernels, as NumPy arrays, and what the tables of docs/ops-matrix.md need to know of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Sample:
    """`args` are arrays or lists of arrays: small, float64 where the op has it, valid under every transformation.

    `mapped`: which arguments get a leading axis under vmap; the others are the same for all items. `writes`: which are written in
    place. `lacks`: a column to the reason why the op doesn't have it; "vmap" is that of every framework, "jax vmap" of one."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    mapped: tuple[int, ...] = (0,)
    dtype: type = np.float64  # f32 where the op computes in it whatever it's given
    writes: tuple[int, ...] = ()
    lacks: dict[str, str] = field(default_factory=dict)

    @property
    def tolerance(self) -> float:
        return 1e-12 if self.dtype == np.float64 else 1e-5

    @property
    def slopes(self) -> dict[str, float]:
        """The step of finite differences, and how far they may be from gradients."""
        return {"eps": 1e-5} if self.dtype == np.float64 else {"eps": 1e-2, "atol": 5e-3, "rtol": 5e-3}

    def floats(self) -> tuple[int, ...]:
        """The arguments that can have a gradient; tables of angles, which have none, are f32."""
        return tuple(i for i, value in enumerate(self.args) if getattr(value, "dtype", None) == self.dtype)

    def arrays(self, convert: Callable[[np.ndarray], Any] = np.copy) -> list[Any]:
        """The arguments, each array converted; copies, because some are written."""
        return [_each(arg, convert) for arg in self.args]

    def stacked(self, times: int) -> tuple[Any, ...]:
        """The arguments for vmap: the mapped ones as `times` different items."""

        def stack(value: np.ndarray) -> np.ndarray:
            return np.stack([value * (n + 1) if value.dtype.kind == "f" else value for n in range(times)])

        return tuple(_each(arg, stack if i in self.mapped else np.copy) for i, arg in enumerate(self.args))

    def item(self, stacked: tuple[Any, ...], n: int) -> list[Any]:
        """The n-th item of such arguments, copied."""
        return [
            _each(arg, (lambda value: value[n].copy()) if i in self.mapped else np.copy)
            for i, arg in enumerate(stacked)
        ]

    def call(self, op: Callable[..., Any], args: list[Any]) -> list[Any]:
        """The arguments that were written in place, and then the results: the order in which JAX returns them."""
        results = op(*args, **self.kwargs)
        return [*flat([args[i] for i in self.writes]), *flat(results)]

    def expected(self, op: Callable[..., Any]) -> list[np.ndarray]:
        """That of the call with NumPy's arrays."""
        return self.call(op, self.arrays())

    def same(self, found: Any, expected: Any) -> None:
        for a, b in zip(flat(found), flat(expected), strict=True):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=self.tolerance, atol=self.tolerance)


def _each(arg: Any, convert: Callable[[np.ndarray], Any]) -> Any:
    return [convert(item) for item in arg] if isinstance(arg, list) else convert(arg)


def flat(outputs: Any) -> list[Any]:
    if isinstance(outputs, tuple | list):
        return [each for output in outputs for each in flat(output)]
    return [] if outputs is None else [outputs]
