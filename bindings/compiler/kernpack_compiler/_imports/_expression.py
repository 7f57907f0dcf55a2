"""Expressions of a contract's names, as Python writes them: "ceildiv(M, 64)", "i32(N) * 2"."""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from kernpack_compiler import ir

Value: TypeAlias = ir.Expr | bool | int | float

_OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_TYPES = {
    name: getattr(ir, name)
    for name in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64")
}
_CALLS = ("ceildiv", "cdiv", "min", "max", *_TYPES)  # cdiv: Triton's name of ceildiv


def evaluate(given: object, names: Mapping[str, Any], where: str) -> Any:
    """A number, or an ir.Expr inside of the function that is being written. `where`: "softmax: grid[0]", for errors."""
    if isinstance(given, (bool, int, float)):
        return given
    if not isinstance(given, str):
        raise TypeError(
            f"{where}: expected a number or an expression as text, such as 'ceildiv(N, 64)', got {type(given).__name__}"
        )
    try:
        tree = ast.parse(given.strip(), mode="eval")
    except SyntaxError as error:
        raise ValueError(
            f"{where}: '{given}': expected an expression, such as 'ceildiv(N, 64)': {error.msg}"
        ) from error
    try:
        return _Walker(names, f"{where}: '{given}'").value(tree.body)
    except ZeroDivisionError as error:
        raise ValueError(f"{where}: '{given}': {error}") from error


class _Walker:
    def __init__(self, names: Mapping[str, Any], where: str) -> None:
        self.names = names
        self.where = where

    def refuse(self, said: str) -> ValueError:
        return ValueError(f"{self.where}: {said}")

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool() | int() | float() as number):
                return number
            case ast.Name(id=name):
                return self.named(name)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
                return _OPERATIONS[type(op)](self.value(left), self.value(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return _negate(self.value(operand))
            case ast.BoolOp(op=op, values=values):
                return self.joined(isinstance(op, ast.And), values)
            case ast.Compare(left=left, ops=ops, comparators=comparators) if all(type(o) in _OPERATIONS for o in ops):
                return self.compared(left, ops, comparators)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.chosen(self.value(test), body, orelse)
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=int(i))
            ):
                return self.extent(name, i)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _CALLS and args:
                return self.called(name, [self.value(arg) for arg in args])
        raise self.refuse(
            f"'{ast.unparse(node)}' isn't supported; write numbers, names of the contract, + - * // % << >> & |, "
            f"comparisons, and, or, not, `a if c else b`, x.shape[0], {', '.join(f'{name}()' for name in _CALLS)}"
        )

    def named(self, name: str) -> Any:
        found = self.names.get(name)
        if isinstance(found, ir.Buffer):
            raise self.refuse(f"'{name}' is a tensor; write dims and scalars")
        if found is None:
            there = [n for n, v in self.names.items() if not isinstance(v, ir.Buffer)]
            raise self.refuse(f"the contract has no dim or scalar '{name}'; there are {', '.join(there) or 'none'}")
        return found

    def extent(self, name: str, i: int) -> Any:
        """Of a tensor, whose dims need no names for it."""
        found = self.names.get(name)
        if not isinstance(found, ir.Buffer):
            there = [n for n, v in self.names.items() if isinstance(v, ir.Buffer)]
            raise self.refuse(f"the contract has no tensor '{name}'; there are {', '.join(there) or 'none'}")
        if i >= found.ndim:
            raise self.refuse(f"'{name}' has {found.ndim} dims, got index {i}")
        extent = found.shape[i]
        return int(str(extent)) if str(extent).isdigit() else ir.i64(extent)

    def joined(self, every: bool, values: list[ast.expr]) -> Any:
        result: Any = every
        for node in values:
            value = self.value(node)
            if isinstance(result, bool):
                result = value if result == every else result
            elif isinstance(value, bool):
                result = result if value == every else value
            else:
                result = result & value if every else result | value
        return result

    def compared(self, left: ast.expr, ops: list[ast.cmpop], comparators: list[ast.expr]) -> Any:
        result: Any = True
        before = self.value(left)
        for op, node in zip(ops, comparators, strict=True):
            after = self.value(node)
            this = _OPERATIONS[type(op)](before, after)
            if isinstance(result, bool):
                result = this if result else False
            elif not (isinstance(this, bool) and this):
                result = result & this
            before = after
        return result

    def chosen(self, test: Any, body: ast.expr, orelse: ast.expr) -> Any:
        if isinstance(test, (bool, int)):
            return self.value(body if test else orelse)
        return ir.select(test, self.value(body), self.value(orelse))

    def called(self, name: str, values: list[Any]) -> Any:
        if name in _TYPES:
            if len(values) != 1:
                raise self.refuse(f"{name}() takes one value")
            return _TYPES[name](values[0])
        if name in ("min", "max"):
            return functools.reduce(getattr(self, name), values)
        if len(values) != 2:
            raise self.refuse(f"{name}() takes two values")
        return -(-values[0] // values[1])

    @staticmethod
    def min(a: Any, b: Any) -> Any:
        return min(a, b) if _are_numbers(a, b) else ir.min(a, b)

    @staticmethod
    def max(a: Any, b: Any) -> Any:
        return max(a, b) if _are_numbers(a, b) else ir.max(a, b)


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(value, (int, float)) for value in values)


def _negate(value: Any) -> Any:
    return not value if isinstance(value, (bool, int)) else ~value
