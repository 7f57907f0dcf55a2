"""jax.vmap of a call: one more "..." dim where the contract has them, else one call an item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ._arguments import Config

Bind = Callable[..., list[Any]]


def rule(bind: Bind) -> Callable[..., tuple[list[Any], list[int]]]:
    """The batching rule of the primitive that `bind` binds."""

    def batch(
        arrays: Sequence[Any], dims: Sequence[Any], *, config: Config, local: bool, aux: bool, needs: Any = None
    ) -> tuple[list[Any], list[int]]:
        del needs  # `bind` adds it
        is_mapped = [dim is not None for dim in dims]
        size = next(array.shape[dim] for array, dim in zip(arrays, dims, strict=True) if dim is not None)
        front = [array if dim is None else jnp.moveaxis(array, dim, 0) for array, dim in zip(arrays, dims, strict=True)]
        if _widens(config, is_mapped):
            outputs = bind(config, _widened(config, front, is_mapped, size), local=local, aux=aux)
        else:
            outputs = _each(bind, config, front, is_mapped, local, aux)
        return outputs, [0] * len(outputs)

    return batch


def _widens(config: Config, is_mapped: Sequence[bool]) -> bool:
    """True if the new dim can be the first of the "..." dims: all mapped operands and all results have "..."."""
    carried = all(
        parameter.tensor is not None and parameter.tensor.batch is not None
        for parameter, mapped in zip(config.operands, is_mapped, strict=True)
        if mapped
    )
    return carried and all(dims.batch == "..." for dims in config.outputs)


def _widened(config: Config, arrays: Sequence[Any], is_mapped: Sequence[bool], size: Any) -> list[Any]:
    found = []
    for parameter, array, mapped in zip(config.operands, arrays, is_mapped, strict=True):
        form = parameter.tensor.batch if parameter.tensor is not None else None
        if mapped or form is None:
            found.append(array)
        elif form == "...":
            found.append(jnp.broadcast_to(array, (size, *array.shape)))
        else:  # "~...": the kernel broadcasts a dim of 1 itself
            found.append(array[None])
    return found


def _each(
    bind: Bind, config: Config, arrays: Sequence[Any], is_mapped: Sequence[bool], local: bool, aux: bool
) -> list[Any]:
    mapped = [array for array, batched in zip(arrays, is_mapped, strict=True) if batched]

    def one(items: Sequence[Any]) -> list[Any]:
        left = iter(items)
        return bind(
            config, [next(left) if m else a for a, m in zip(arrays, is_mapped, strict=True)], local=local, aux=aux
        )

    with jax.disable_jit(False):  # whose loops must know their results, and so cannot be empty
        return jax.lax.map(one, mapped)
