"""Which manual mesh axes a value varies over, under the names that JAX's versions have given to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax


def get_axes(kind: Any) -> frozenset[str]:
    """Of a type; empty outside shard_map, and where check_vma is off."""
    manual = getattr(kind, "manual_axis_type", None)
    found = getattr(kind, "vma", frozenset()) if manual is None else manual.varying
    return frozenset(found)


def alike(arrays: Sequence[Any]) -> list[Any]:
    """The arrays, each varying over every axis that one of them varies over."""
    every = [get_axes(jax.typeof(array)) for array in arrays]
    union = frozenset().union(*every)
    return [_vary(array, tuple(sorted(union - own))) for array, own in zip(arrays, every, strict=True)]


def like(array: Any, kind: Any) -> Any:
    """The array, varying over all axes that the type varies over."""
    return _vary(array, tuple(sorted(get_axes(kind) - get_axes(jax.typeof(array)))))


def _vary(array: Any, axes: tuple[str, ...]) -> Any:
    if not axes:
        return array
    if hasattr(jax.lax, "pcast"):
        return jax.lax.pcast(array, axes, to="varying")
    return jax.lax.pvary(array, axes)  # type: ignore[attr-defined]


def register(primitive: Any) -> None:
    """Tells a JAX whose shard_map is experimental still, and knows no types that vary, that outputs vary as operands do."""
    if hasattr(jax, "shard_map"):
        return
    from jax.experimental import shard_map as module

    shard_map: Any = module
    shard_map.register_standard_check(primitive)
    shard_map.register_standard_rewrite(primitive)
