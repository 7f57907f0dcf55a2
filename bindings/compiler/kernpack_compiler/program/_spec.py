"""Shape and dtype of a tensor that doesn't exist yet."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import kernpack


@dataclasses.dataclass(frozen=True, init=False)
class Spec:
    """Describes a tensor argument of a program: `Spec((8, 384), "f32")`, or `Spec(("N", 384), "f32")` for any number of rows."""

    shape: tuple[int | str, ...]  # a name is one size in a run
    dtype: kernpack.DType

    def __init__(self, shape: Sequence[int | str], dtype: Any) -> None:
        if isinstance(shape, str) or not isinstance(shape, Iterable):
            raise TypeError(f"program.Spec: expected a shape such as (8, 384) or ('N', 384), got {shape!r}")
        dims = tuple(shape)
        if not all(_is_extent(dim) for dim in dims):
            raise ValueError(f"program.Spec: expected a shape of ints of at least 0, or names of sizes, got {dims!r}")
        object.__setattr__(self, "shape", dims)
        object.__setattr__(self, "dtype", kernpack.dtype(dtype))

    def __str__(self) -> str:
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"


def _is_extent(dim: Any) -> bool:
    if isinstance(dim, str):
        return dim.isidentifier() and dim.isascii() and dim != "_"
    return isinstance(dim, int) and not isinstance(dim, bool) and 0 <= dim < 2**63


def make_spec(value: Any) -> Spec | None:
    """The Spec of an array or tensor of any framework, or of an object with `shape` and `dtype`; None for other values."""
    if isinstance(value, Spec):
        return value
    if not (hasattr(value, "shape") and hasattr(value, "dtype")):
        return None
    return Spec([int(dim) for dim in value.shape], value.dtype)
