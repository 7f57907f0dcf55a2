"""The meaning of a framework's values in a contract. Numbers here; torch and JAX add their symbols."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kernpack._core import Device, DType


@dataclass(frozen=True)
class Tensor:
    """A tensor as the solver sees it: without its memory."""

    shape: tuple[Any, ...]
    dtype: str  # as contracts spell it
    device: str = "cpu"
    strides: tuple[Any, ...] | None = None  # None: contiguous


RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}

_TYPE_NAMES: dict[type, str] = {
    type(None): "None",
    int: "int",
    bool: "bool",
    float: "float",
    str: "str",
    list: "list",
    tuple: "list",
    DType: "dtype",
    Device: "device",
    Tensor: "Tensor",
}


class Domain:
    """Sizes that are Python's ints. Of symbols a subclass answers what it can; what only the run of the program can tell is left to
    the check that the kernel's call makes."""

    def type_name(self, value: Any) -> str:
        """As error messages and the C++ check call the type."""
        return _TYPE_NAMES.get(type(value), "object")

    def known(self, size: Any) -> int | None:
        """The number, where the size is one."""
        return size if isinstance(size, int) else None

    def same(self, a: Any, b: Any) -> bool:
        """True if two sizes are equal, or may be."""
        return bool(a == b)

    def same_or_one(self, size: Any, wanted: Any) -> bool:
        """True if a size is 1 or equals `wanted`, or may be so."""
        return bool(size == 1 or size == wanted)

    def holds(self, relation: str, a: Any, b: Any) -> bool:
        """True if a condition holds, or may hold."""
        return bool(RELATIONS[relation](a, b))

    def minimum(self, a: Any, b: Any) -> Any:
        return min(a, b)

    def maximum(self, a: Any, b: Any) -> Any:
        return max(a, b)


NUMBERS = Domain()
