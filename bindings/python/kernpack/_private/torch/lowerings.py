"""How inductor, torch's compiler, calls operators that write: its table of lowerings is documented for no one else.

Inductor removes copies such as `y = x.clone()` before it decides to write in place, and so may give an operator one tensor as an input
and as what it writes to. The lowering here makes that copy again, where it is missing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from kernpack._private import is_private_allowed, private_found, private_not_found

# The module to wait for.
INDUCTOR = "torch._inductor.lowering"


@functools.cache
def is_found() -> bool:
    """True if this torch has the names. Imports the compiler."""
    if not is_private_allowed("torch.lowerings"):
        return False
    try:
        from torch._inductor import ir, lowering

        used = (lowering.fallback_handler, lowering.register_lowering, lowering.add_needs_realized_inputs, ir.TensorBox)
        found = all(map(callable, (*used, ir.ExternKernel.copy_input, ir.ExternKernel.require_contiguous)))
    except (AttributeError, ImportError):
        found = False
    (private_found if found else private_not_found)("torch.lowerings")
    return found


def copy_what_is_written(op: Any, written: Sequence[str]) -> None:
    """Gives the operator a lowering that copies its inputs that are in a buffer which it writes to. written: the names in the schema."""
    if not is_found():
        return
    from torch._inductor import ir, lowering

    names = [argument.name for argument in op._schema.arguments]
    lower = _lowering(ir, lowering.fallback_handler(op), names, frozenset(written))
    lowering.add_needs_realized_inputs(op)
    lowering.register_lowering(op, type_promotion_kind=None)(lower)


def realize_inputs(op: Any) -> None:
    """Has inductor compute the operator's inputs before it takes views of them."""
    if is_found():
        from torch._inductor import lowering

        lowering.add_needs_realized_inputs(op)


def _lowering(
    ir: Any, fallback: Callable[..., Any], names: Sequence[str], written: frozenset[str]
) -> Callable[..., Any]:
    def buffers(value: Any) -> set[str]:
        if isinstance(value, (list, tuple)):
            return {name for item in value for name in buffers(item)}
        return {value.get_name()} if isinstance(value, ir.TensorBox) else set()

    def apart(value: Any, taken: set[str]) -> Any:
        if isinstance(value, (list, tuple)):
            return [apart(item, taken) for item in value]
        if not isinstance(value, ir.TensorBox) or not buffers(value) & taken:
            return value
        return ir.ExternKernel.require_contiguous(ir.ExternKernel.copy_input(value))

    def lower(*args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        taken = {name for key in written for name in buffers(given.get(key))}
        return fallback(
            *(value if key in written else apart(value, taken) for key, value in zip(names, args, strict=False)),
            **{key: value if key in written else apart(value, taken) for key, value in kwargs.items()},
        )

    return lower
