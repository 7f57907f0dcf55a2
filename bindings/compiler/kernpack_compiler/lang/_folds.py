"""sum(), max() and the like over generators: reductions of the IR, one inside the other for several axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from kernpack_compiler import ir
from kernpack_compiler.lang import _functions
from kernpack_compiler.lang._dtypes import FLOATS
from kernpack_compiler.lang._source import Refusal
from kernpack_compiler.lang._values import check_integers, condition, typed

_PLACES = ("argmax", "argmin")


class Folds:
    """The part of the runtime that computes values of generators. Inside one, nothing is recorded."""

    def __init__(self, float_type: str) -> None:
        self.float_type = float_type
        self._folding: list[str] = []
        self._has_axis = False  # inside argmax() or argmin()

    @property
    def is_pure(self) -> bool:
        return bool(self._folding)

    def recording(self, what: str) -> None:
        if self._folding:
            raise Refusal(
                f"{what} inside sum() or the like: the value of a generator, and helpers that it calls, are expressions; "
                "write the sum as a loop instead"
            )

    def count(self, first: Any, end: Any, step: Any) -> Any:
        """The iterations of range(first, end, step)."""
        if not isinstance(step, int) or step == 0:
            raise Refusal("range(): expected a known number other than 0 as the step")
        distance = end - first if step > 0 else first - end
        return (distance + (abs(step) - 1)) // abs(step)

    def fold(self, function: Any, value: Callable[[], Any], *first: Any) -> Any:
        op = _functions.FOLDS.get(function) if getattr(function, "__hash__", None) else None
        if op is None or len(first) > (op == "+"):
            raise Refusal(
                "a generator goes into sum(), math.prod(), max(), min(), argmax(), argmin(), any() or all(), which take nothing else"
            )
        self._folding.append(op)
        try:
            joined = value()
        finally:
            self._folding.pop()
        if op in ("any", "all"):
            return joined != 0
        return joined + first[0] if first else joined

    def axis(self, name: str, body: Callable[[Any], Any], function: Any, *bounds: Any) -> ir.Expr:
        if function is not range:
            raise Refusal(
                "a generator goes over range(); loops that are parallel, vectorized or unrolled are statements"
            )
        check_integers("range", bounds)
        op = {"any": "max", "all": "min"}.get(self._folding[-1], self._folding[-1])
        if op in _PLACES:
            return self._place(op, name, body, bounds)
        if len(bounds) == 3:
            first, end, step = bounds
            count = self.count(first, end, step)
            return ir.reduce(op, count, lambda k: body(first + k * step), name=name)  # type: ignore[arg-type]
        extent = bounds[0] if len(bounds) == 1 else (bounds[0], bounds[1])
        return ir.reduce(op, extent, body, name=name)  # type: ignore[arg-type]

    def _place(self, op: str, name: str, body: Callable[[Any], Any], bounds: tuple[Any, ...]) -> ir.Expr:
        if self._has_axis:
            raise Refusal(f"{op}() goes over one axis: write a loop over the others")
        if len(bounds) != 1:
            raise Refusal(f"{op}() counts from 0: write range(n), and add the first index to the result")
        self._has_axis = True
        try:
            return ir.reduce(op, bounds[0], body, order="sequential", name=name)  # type: ignore[arg-type]
        finally:
            self._has_axis = False

    def element(self, value: Any) -> ir.Expr:
        """The value that is joined: conditions count as 0 and 1."""
        op = self._folding[-1]
        if op in ("any", "all"):
            value = typed(condition(value), self.float_type)
        value = typed(value, self.float_type)
        return ir.cast("i64" if op not in ("any", "all") else "i32", value) if value.type.name == "bool" else value

    def only(self, test: Any, value: Callable[[], ir.Expr]) -> ir.Expr:
        """An element where the test holds, else what changes nothing."""
        return self.choose(test, value, lambda: self._neutral(value))

    def choose(self, test: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        raise NotImplementedError

    def _neutral(self, value: Callable[[], ir.Expr]) -> ir.Expr:
        op = self._folding[-1]
        if op not in ("+", "*", "max", "min", "any", "all"):
            raise Refusal("argmax() and argmin() take all elements of one axis: write the loop, with an `if`")
        kind = value().type
        if op in ("+", "*", "any", "all"):
            return ir.cast(kind, {"+": 0, "any": 0}.get(op, 1))
        name = kind.name
        if name in FLOATS:
            return ir.cast(kind, -math.inf if op == "max" else math.inf)
        bits = int(name[1:])
        least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if name[0] == "i" else (0, (1 << bits) - 1)
        return ir.cast(kind, least if op == "max" else most)
