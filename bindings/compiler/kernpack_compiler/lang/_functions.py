"""Calls in a kernel: functions of Python and math as operations of the IR."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

from kernpack_compiler import ir
from kernpack_compiler.lang import _words
from kernpack_compiler.lang._dtypes import Dtype, TensorType
from kernpack_compiler.lang._refusals import ARGMAX, ARRAYS, FUNCTIONS, MATH
from kernpack_compiler.lang._source import Refusal
from kernpack_compiler.lang._values import describe_kind, is_known


def _whole(function: Callable[[Any], ir.Expr]) -> Callable[[Any], ir.Expr]:
    """Functions of Python that give an int."""
    return lambda x: x if isinstance(x, ir.Expr) and x.type.name[0] in "iu" else ir.cast("i64", function(x))


# Operations on values of the IR, by the function that the author calls. With known numbers Python's own function is called.
OPERATIONS: dict[Any, Callable[..., Any]] = {
    math.exp: ir.exp,
    math.log: lambda x: ir.log(x),
    math.sqrt: ir.sqrt,
    math.tanh: ir.tanh,
    math.erf: ir.erf,
    math.sin: ir.sin,
    math.cos: ir.cos,
    math.pow: ir.pow,
    math.floor: _whole(ir.floor),
    math.ceil: _whole(ir.ceil),
    builtins.round: _whole(ir.round),
    math.fabs: abs,
    builtins.abs: abs,
    math.isnan: lambda x: x != x,
    math.isinf: lambda x: abs(x) == math.inf,
    math.isfinite: lambda x: abs(x) < math.inf,
    _words.sigmoid: ir.sigmoid,
}
FOLDS: dict[Any, str] = {
    builtins.sum: "+",
    math.prod: "*",
    builtins.max: "max",
    builtins.min: "min",
    builtins.any: "any",
    builtins.all: "all",
    _words.argmax: "argmax",
    _words.argmin: "argmin",
}
LOOPS: dict[Any, Callable[..., Any]] = {
    range: ir.serial,
    _words.parallel: ir.parallel,
    _words.vectorized: ir.vectorized,
    _words.unrolled: ir.unrolled,
}
SCOPES: dict[Any, str] = {_words.local: "local", _words.shared: "shared", _words.workspace: "workspace"}
_ARRAYS = ("numpy", "torch", "jax", "scipy")


def operation(function: Any) -> Callable[..., Any] | None:
    try:
        return OPERATIONS.get(function)
    except TypeError:  # not hashable
        return None


def between(function: Any, values: tuple[Any, ...]) -> Any:
    """max(a, b, ...) and min(a, b, ...)."""
    if len(values) < 2:
        given = describe_kind(values[0]) if values else "nothing"
        raise Refusal(f"{function.__name__}(): expected a generator or several numbers, got {given}")
    if all(is_known(value) for value in values):
        return function(*values)
    join = ir.max if function is builtins.max else ir.min
    joined = values[0]
    for value in values[1:]:
        known = is_known(joined) and is_known(value)
        joined = function(joined, value) if known else join(joined, value)
    return joined


def memory(function: Any, given: tuple[Any, ...], name: str | None) -> ir.Buffer:
    word = function.__name__
    if len(given) != 1 or not isinstance(given[0], TensorType):
        raise Refusal(f"{word}(): expected a type with extents, such as {word}(f32[8])")
    tensor = given[0]
    return ir.alloc(tensor.dtype.type, list(tensor.dims), SCOPES[function], name or "t")


def converted(function: Any, values: tuple[Any, ...], float_type: str) -> Any:
    """int(x), float(x), bool(x), and f32(x) and the like."""
    if len(values) != 1 or not (isinstance(values[0], ir.Expr) or is_known(values[0])):
        given = describe_kind(values[0]) if len(values) == 1 else f"{len(values)} values"
        raise Refusal(
            f"{function.__name__ if not isinstance(function, Dtype) else function}(): expected a number, got {given}"
        )
    value = values[0]
    if isinstance(function, Dtype):
        return ir.cast(function.type, value)
    if is_known(value):
        return function(value)
    return ir.cast({int: "i64", float: float_type, bool: "bool"}[function], value)


def refuse(function: Any) -> Refusal:
    """Of a function that a kernel can't call."""
    name = getattr(function, "__name__", type(function).__name__)
    module = getattr(function, "__module__", None) or ""
    root = module.partition(".")[0]
    if name in ("argmax", "argmin"):
        return Refusal(f"{name}(): {ARGMAX}")
    if root in _ARRAYS or type(function).__module__.partition(".")[0] in _ARRAYS:
        return Refusal(f"{name}() of {root or 'numpy'} {ARRAYS}")
    if root == "math":
        return Refusal(f"math.{name}(): {MATH}")
    if getattr(builtins, name, None) is function:
        return Refusal(
            FUNCTIONS.get(name, f"{name}(): a kernel can't call this function of Python; it takes numbers only")
        )
    if isinstance(function, type):
        return Refusal(f"{name}(): a class: a kernel has numbers and tensors only")
    return Refusal(f"{name}(): expected a function written in Python with `def`, got {type(function).__name__}")


def may_inline(function: Any) -> bool:
    return (getattr(function, "__module__", None) or "").partition(".")[0] not in (*_ARRAYS, "kernpack_compiler")


def is_of_ir(function: Any) -> bool:
    """Functions of kernpack_compiler.ir record as they are."""
    return (getattr(function, "__module__", None) or "").startswith("kernpack_compiler") and getattr(
        ir, getattr(function, "__name__", ""), None
    ) is function
