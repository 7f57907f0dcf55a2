"""Which manual mesh axes a value varies over, under the names that JAX's versions have given to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax


def axes_of(value: Any) -> frozenset[str]:
    """Of an array or a tracer; empty outside shard_map, and where check_vma is off."""
    aval = jax.typeof(value)
    kind = getattr(aval, "manual_axis_type", None)
    found = getattr(aval, "vma", frozenset()) if kind is None else kind.varying
    return frozenset(found)


def alike(arrays: Sequence[Any]) -> list[Any]:
    """The arrays, each varying over every axis that one of them varies over."""
    every = [axes_of(array) for array in arrays]
    union = frozenset().union(*every)
    return [_vary(array, tuple(sorted(union - own))) for array, own in zip(arrays, every, strict=True)]


def like(array: Any, model: Any) -> Any:
    """The array, varying over all axes that the model varies over."""
    return _vary(array, tuple(sorted(axes_of(model) - axes_of(array))))


def sum_like(gradient: Any, primal: Any) -> Any:
    """The gradient summed over the axes that it varies over and the value that it belongs to does not."""
    axes = tuple(sorted(axes_of(gradient) - axes_of(primal)))
    gradient = jax.lax.psum(gradient, axes) if axes else gradient
    return like(gradient, primal)


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
