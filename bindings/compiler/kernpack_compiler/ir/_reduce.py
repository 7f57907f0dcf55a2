"""Reductions, with a defined order of floating-point operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from kernpack_compiler._native import ir as _ir
from kernpack_compiler.ir._blocks import Number, counter


def reduce(
    op: Literal["+", "*", "min", "max", "minimum", "maximum", "argmin", "argmax", "&", "|", "^"],
    extent: Number | tuple[Number, Number],
    body: Callable[[_ir.Expr], _ir.Expr],
    *,
    order: int | Literal["sequential"] = 16,
    name: str | None = None,
) -> _ir.Expr:
    """Joins body(k) for k from 0 to extent - 1, or begin to end - 1.

    order: a number of partial results (a power of two up to 64): element k goes to result k modulo that, and they are
        joined as a tree, the same on every run and thread count; or "sequential", one after the other, as argmin and argmax are.
    """
    if not callable(body):
        raise TypeError(
            f"{_ir.author_place()}reduce: body: expected a function of the counter, as in "
            f"ir.sum(D, lambda j: x[i, j]), got {type(body).__name__}"
        )
    begin, end = extent if isinstance(extent, tuple) else (0, extent)
    k = counter(begin, end, name or "k")
    if order != "sequential" and not isinstance(order, int):
        raise ValueError(
            f"{_ir.author_place()}reduce: order: expected a number of partial results or 'sequential', got {order!r}"
        )
    return _ir.reduce(op, k, begin, end, 0 if order == "sequential" else order, body(k))


def sum(
    extent: Number | tuple[Number, Number],
    body: Callable[[_ir.Expr], _ir.Expr],
    *,
    order: int | Literal["sequential"] = 16,
    name: str | None = None,
) -> _ir.Expr:
    """reduce("+", ...)."""
    return reduce("+", extent, body, order=order, name=name)
