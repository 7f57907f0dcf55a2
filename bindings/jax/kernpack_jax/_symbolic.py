"""The shape rules of a contract over jax.export's symbolic dims, which C cannot hold."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import CodeType
from typing import Any

import jax
import numpy as np

from . import _dtypes
from ._arguments import Config
from ._function import Dims

Described = tuple[tuple[tuple[Any, ...], Any], ...]  # shape and dtype of each operand


def results(config: Config, described: Described) -> tuple[tuple[jax.ShapeDtypeStruct, ...], Any]:
    """As _abstract.results. Ranks and dims that certainly differ are errors here; the rest is checked at run time."""
    solution = _Solution(config)
    for parameter, (shape, dtype) in zip(config.operands, described, strict=True):
        assert parameter.dims is not None
        solution.bind(parameter.name, parameter.dims, shape, np.dtype(dtype))
    found = tuple(
        jax.ShapeDtypeStruct(solution.shape(result.dims), solution.dtype(result.dims, f"result {index}"))
        for index, result in enumerate(config.function.results)
    )
    if not config.function.has_workspace:
        return found, None
    return found, solution.workspace(config.function.typed["workspace"], described)


class _Solution:
    """What the operands bind, by name."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._name = config.function.name
        self._dims: dict[str, Any] = {}
        self._dtypes: dict[str, str] = {}
        for parameter, (tag, value) in zip(config.function.parameters, config.slots, strict=True):
            if tag == "int":
                self._dims[parameter.name] = value
            elif tag == "dtype":
                self._dtypes[parameter.name] = value

    def bind(self, parameter: str, dims: Dims, shape: tuple[Any, ...], dtype: np.dtype) -> None:
        if dims.dtype[0] == "var":
            self._dtypes.setdefault(dims.dtype[1], _dtypes.to_name(dtype))
        lead = len(shape) - len(dims.terms) if dims.batch else 0
        width = len(shape) - len(dims.terms) + 1 if dims.has_tuple else 1
        if lead < 0 or width < 0 or (not dims.batch and not dims.has_tuple and len(shape) != len(dims.terms)):
            raise ValueError(f"{self._name}: {parameter}: expected {len(dims.terms)} dims, got {list(shape)}")
        if dims.batch == "...":
            self._same(parameter, "...", shape[:lead])
        at = lead
        for term in dims.terms:
            taken = shape[at : at + (width if term.startswith("*") else 1)]
            at += len(taken)
            if term.startswith("*"):
                self._same(parameter, term, taken)
            elif term.isidentifier() and term != "_":
                self._same(parameter, term, taken[0])

    def _same(self, parameter: str, name: str, found: Any) -> None:
        bound = self._dims.setdefault(name, found)
        if _certainly_differ(bound, found):
            raise ValueError(f"{self._name}: {parameter}: expected {name} = {_shown(bound)}, got {_shown(found)}")

    def shape(self, dims: Dims) -> tuple[Any, ...]:
        found = list(self._dims.get("...", ())) if dims.batch else []
        for term in dims.terms:
            found += self._dims[term] if term.startswith("*") else [self._value(term, self._dims)]
        return tuple(found)

    def dtype(self, dims: Dims, where: str) -> np.dtype:
        form, name = dims.dtype
        dtype = _dtypes.from_name(name if form == "fixed" else self._dtypes[name])
        if form == "real":
            dtype = np.dtype({8: "float32", 16: "float64"}.get(dtype.itemsize, dtype) if dtype.kind == "c" else dtype)
        elif form == "complex" and dtype.kind != "c":
            dtype = np.dtype("complex128" if dtype.itemsize == 8 else "complex64")
        return _dtypes.of_result(f"{self._name}: {where}", *_dtypes.of_jax(self._name, dtype))

    def workspace(self, text: str, described: Described) -> Any:
        shapes = {p.name: shape for p, (shape, _) in zip(self._config.operands, described, strict=True)}
        names = {name: name for name in (*shapes, *self._dtypes)} | self._dims  # numel(x): the argument is a name
        names["numel"] = lambda name: functools.reduce(lambda a, b: a * b, shapes[name], 1)
        names["itemsize"] = lambda name: _dtypes.from_name(self._dtypes[name]).itemsize
        return self._value(text, names)

    def _value(self, text: str, names: Mapping[str, Any]) -> Any:
        scope = {"__builtins__": {}, "min": jax.core.min_dim, "max": jax.core.max_dim, "ceildiv": _ceildiv, **names}
        try:
            # The text is what libkernpack wrote of a contract that it has compiled: names, integers and operators.
            return eval(_code(text), scope)
        except ZeroDivisionError:
            raise ValueError(f"{self._name}: {text}: division by zero") from None


@functools.lru_cache(maxsize=1024)
def _code(text: str) -> CodeType:
    return compile(text, "<shape rule>", "eval")


def _ceildiv(a: Any, b: Any) -> Any:
    return -(-a // b)


def _certainly_differ(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return len(a) != len(b) or any(_certainly_differ(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, int) and isinstance(b, int):
        return a != b
    return any(_certainly_positive(difference) for difference in (a - b, b - a))


def _certainly_positive(value: Any) -> bool:
    try:
        return bool(value >= 1)
    except Exception:  # jax's InconclusiveDimensionOperation, whose home has moved
        return False


def _shown(value: Any) -> str:
    return "[" + ", ".join(map(str, value)) + "]" if isinstance(value, tuple) else str(value)
