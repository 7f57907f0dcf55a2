"""One array given twice, of which one is written. XLA would write to a copy; eager calls of other frameworks refuse it, so this does too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._arguments import Config


def refuse(config: Config, arrays: Sequence[Any]) -> None:
    """A ValueError with the words of ffi/include/kernpack/signature/check.h, where an array that is written is also given elsewhere."""
    if not config.mutated:
        return
    first: dict[int, int] = {}  # where each array was seen
    for index, array in enumerate(arrays):
        other = first.setdefault(id(array), index)
        if other == index or _is_empty(array):
            continue
        if config.operands[index].mutated:
            _raise(config, index, other)
        if config.operands[other].mutated:
            _raise(config, other, index)


def _is_empty(array: Any) -> bool:
    return any(isinstance(dim, int) and dim == 0 for dim in array.shape)


def _raise(config: Config, written: int, other: int) -> None:
    raise ValueError(
        f"{config.function.name}: {_place(config, written)}: expected memory of its own to write to, got a tensor that "
        f"overlaps {_place(config, other)}: pass a copy"
    )


def _place(config: Config, index: int) -> str:
    """The parameter, and in a list the item."""
    owner = config.owners[index]
    name = config.operands[index].name
    return f"{name}[{index - config.owners.index(owner)}]" if config.slots[owner][0] == "tensors" else name
