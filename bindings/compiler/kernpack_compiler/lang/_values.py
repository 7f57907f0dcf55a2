"""Values of a kernel while it is traced: expressions of the IR, numbers that are known, and variables that change."""

from __future__ import annotations

import math
from typing import Any

from kernpack_compiler import ir
from kernpack_compiler.lang._dtypes import FLOATS, Dtype
from kernpack_compiler.lang._source import Refusal


def is_known(value: Any) -> bool:
    """A number that is known while the kernel is made."""
    return isinstance(value, bool | int | float)


def plain(value: Any) -> Any:
    """A number of NumPy as one of Python, whose type is that of the operand beside it."""
    is_number = type(value).__module__ == "numpy" and hasattr(value, "item") and not hasattr(value, "__len__")
    return value.item() if is_number else value


def get_type(value: Any, float_type: str) -> str:
    """The type of a value; of a number without one, the kernel's."""
    if isinstance(value, ir.Expr):
        return value.type.name
    return "bool" if isinstance(value, bool) else "i64" if isinstance(value, int) else float_type


def typed(value: Any, float_type: str) -> ir.Expr:
    if not isinstance(value, ir.Expr) and not is_known(value):
        raise Refusal(f"expected a number, got {describe_kind(value)}")
    return value if isinstance(value, ir.Expr) else ir.cast(get_type(value, float_type), value)


def describe_kind(value: Any) -> str:
    """Says a value in an error."""
    if isinstance(value, ir.Buffer):
        return f"the tensor `{value.name}`: read an element of it, {value.name}[i]"
    if isinstance(value, ir.Expr):
        return f"a number of {value.type.name}"
    if type(value).__module__.partition(".")[0] in ("numpy", "torch", "jax", "jaxlib"):
        return f"an array of {type(value).__module__.partition('.')[0]}: pass it to the kernel as an argument"
    return f"{type(value).__name__}"


def check_integers(function: str, bounds: tuple[Any, ...]) -> None:
    """Refuses bounds of a loop that aren't integers."""
    for bound in bounds:
        if not isinstance(bound, ir.Expr) and (isinstance(bound, bool) or not isinstance(bound, int)):
            raise Refusal(f"{function}(): expected integers, got {describe_kind(bound)}")


def condition(value: Any) -> Any:
    """A value as Python's `if` takes it: numbers other than 0 are true."""
    if isinstance(value, ir.Expr):
        return value if value.type.name == "bool" else value != 0
    if not is_known(value):
        raise Refusal(f"expected a condition, got {describe_kind(value)}")
    return bool(value)


class Cell:
    """A variable that loops or branches change: memory of one element, of the type of its first value."""

    def __init__(self, name: str, dtype: str | None, float_type: str) -> None:
        self._name, self._dtype, self._float_type = name, dtype, float_type
        self._known: Any = None  # the number that it began with
        self._buffer = None if dtype is None else ir.alloc(dtype, [1], "local", name)

    @property
    def dtype(self) -> str | None:
        return self._dtype

    @property
    def value(self) -> ir.Expr:
        if self._buffer is None:
            raise Refusal(f"`{self._name}` has no value yet")
        return self._buffer[0]

    @value.setter
    def value(self, given: Any) -> None:
        if not isinstance(given, ir.Expr) and not is_known(given):
            raise Refusal(f"`{self._name}` holds a number, got {describe_kind(given)}")
        if self._buffer is None:
            self._dtype = get_type(given, self._float_type)
            self._known = given if is_known(given) else None
            self._buffer = ir.alloc(self._dtype, [1], "local", self._name)
        self._check(given)
        self._buffer[0] = given

    def _check(self, given: Any) -> None:
        got = get_type(given, self._float_type)
        if got == self._dtype or (is_known(given) and not (isinstance(given, float) and self._dtype in _INTEGERS)):
            return
        if self._known is not None and not isinstance(self._known, bool):
            number = repr(float(self._known)) if got in FLOATS and math.isfinite(self._known) else repr(self._known)
            first = f"{self._name}: {Dtype(got)!r} = {number}"
            raise Refusal(
                f"`{self._name}` is {self._dtype}, as it begins with the number {self._known!r}, and gets {got}: "
                f"write `{first}` there"
            )
        raise Refusal(f"`{self._name}` is {self._dtype}, and gets {got}: convert it, {self._dtype}(...)")


_INTEGERS = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
