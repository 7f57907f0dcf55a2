"""Computes the results of a call before it runs: shapes, dtypes and the size of the workspace. Errors have the words of
ffi/include/kernpack/signature/result.h."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kernpack._call_check import MAX_ELEMENTS, MAX_NDIM, CallCheck, sizes_text
from kernpack._contract import Result, TensorType
from kernpack._domain import Tensor
from kernpack._expression import Expression, Value, values_text

_REAL = {"c32": "f16", "c64": "f32", "c128": "f64"}
_COMPLEX = {real: complex_ for complex_, real in _REAL.items()}


class Solution(CallCheck):
    """A call that fits its contract."""

    def result(self, index: int) -> tuple[tuple[Any, ...], str]:
        """Shape and dtype."""
        result = self.contract.results[index]
        dtype = self._result_dtype(*result.tensor.dtype)
        if not dtype:
            raise self._bad_result(result, Value.UNBOUND, None)
        shape: list[Any] = []
        elements: int | None = 1
        for value, size, operand in self._result_sizes(result.tensor):
            if value is Value.OK:
                known = self.domain.known(size)
                elements = None if known is None or elements is None else elements * known
                if known is not None and known < 0:
                    value = Value.NEGATIVE
                elif len(shape) == MAX_NDIM or (elements is not None and elements >= MAX_ELEMENTS):
                    value = Value.OVERFLOW
            if value is not Value.OK:
                raise self._bad_result(result, value, operand)
            shape.append(size)
        return tuple(shape), dtype

    def _result_sizes(self, tensor: TensorType) -> Iterator[tuple[Value, Any, Any]]:
        """Each size, and the Expression that it comes from, if it is one's."""
        for op, operand in [("batch", "")] * (tensor.batch is not None) + list(tensor.dims):
            if op in ("batch", "tuple"):
                sizes = self.batch if op == "batch" else self.tuples.get(operand)
                if sizes is None:
                    yield Value.UNBOUND, 0, None
                else:
                    yield from ((Value.OK, size, None) for size in sizes)
            else:
                yield *self.dim_value(op, operand), operand if op == "code" else None

    def _bad_result(self, result: Result, value: Value, operand: Expression | None) -> Exception:
        if value is Value.UNBOUND:
            expected = f"arguments that fix its shape {result.tensor.text} and dtype"
            return self.error(ValueError, result.name, expected, "only empty lists or numbers")
        expressions = (operand,) if operand is not None and value is not Value.NEGATIVE else ()
        return self.error(ValueError, result.name, f"shape {result.tensor.text}", values_text(value, expressions, self))

    def _result_dtype(self, form: str, name: str) -> str:
        if form == "fixed":
            return name
        if form == "param":
            chosen: str = self.values[name].name
            return chosen
        dtype = self.dtypes.get(name, "")
        if form == "real":
            return _REAL.get(dtype, dtype)
        return _COMPLEX.get(dtype, dtype) if form == "complex" else dtype

    def workspace(self) -> Any:
        """Its size in bytes; None: the function has none."""
        if self.contract.workspace is None:
            return None
        text, size = self.contract.workspace.text, self.contract.workspace.size
        value, found = size.evaluate(self)
        known = self.domain.known(found)
        if value is Value.OK and (known is None or known >= 0):
            return found
        if value is Value.UNBOUND:
            raise ValueError(
                f"{self.contract.name}: expected arguments that fix workspace = {text}, got only empty lists"
            )
        got = f"{found}: " if value is Value.OK else ""
        raise ValueError(
            f"{self.contract.name}: expected workspace = {text} to be at least 0 bytes, got {got}{values_text(value, (size,), self)}"
        )

    def check_destination(self, index: int, given: Tensor) -> None:
        """That a tensor may be what the result is written to."""
        shape, dtype = self.result(index)
        result = self.contract.results[index]
        if given.dtype != dtype:
            raise self.error(TypeError, result.name, f"dtype {dtype}", given.dtype)
        if not self.all_same(given.shape, shape):
            expected = f"shape {result.tensor.text} = {sizes_text(shape)}"
            raise self.error(ValueError, result.name, expected, sizes_text(given.shape))
        self.check_memory(result.name, result.name, given, False, False)
