"""Expressions of contracts, over sizes that may be symbols: what signature/evaluate.h does over 64-bit integers."""

from __future__ import annotations

import ast
import enum
import functools
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from kernpack._domain import Domain

_INT64 = range(-(2**63), 2**63)


class Value(enum.Enum):
    """The outcome of an evaluation."""

    OK = ""
    UNBOUND = "unbound"
    OVERFLOW = "a value that does not fit 64 bits"
    ZERO_DIVISOR = "a division by zero"
    NEGATIVE = "a negative size"


class Scope(Protocol):
    """The values of names in a call; "stride[0]" is a name too."""

    domain: Domain

    def get_value(self, name: str) -> Any:
        """The size of a dim or the value of an int parameter; None: nothing binds it."""

    def numel(self, parameter: str) -> Any: ...

    def itemsize(self, variable: str) -> int: ...


@dataclass(frozen=True)
class Expression:
    """In reverse Polish, so that whatever fails first is what the C++ check finds first."""

    code: tuple[tuple[str, Any], ...]

    @property
    def names(self) -> Iterator[str]:
        """The dims, int parameters and items of lists of ints ("stride[0]"), as often as they stand there."""
        return (operand for op, operand in self.code if op == "name")

    def evaluate(self, scope: Scope) -> tuple[Value, Any]:
        stack: list[Any] = []
        status = Value.OK
        for op, operand in self.code:
            now = Value.OK
            if op == "const":
                stack.append(operand)
            elif op == "name":
                found = scope.get_value(operand)
                now = Value.UNBOUND if found is None else Value.OK
                stack.append(1 if found is None else found)
            elif op == "numel":
                stack.append(scope.numel(operand))
            elif op == "itemsize":
                stack.append(scope.itemsize(operand))
            else:
                b = stack.pop()
                a = 0 if op == "-x" else stack.pop()
                now, result = _apply(scope.domain, op, a, b)
                stack.append(result)
            if now is not Value.OK and (status is Value.OK or now is Value.UNBOUND):
                status = now
        return status, stack[0]


@dataclass(frozen=True)
class Condition:
    """operands[0] relations[0] operands[1] ..."""

    operands: tuple[Expression, ...]
    relations: tuple[str, ...]
    text: str  # as its author wrote it

    def evaluate(self, scope: Scope) -> tuple[Value, bool]:
        values = [operand.evaluate(scope) for operand in self.operands]
        wrong = [value for value, _ in values if value is not Value.OK]
        if wrong:
            return (Value.UNBOUND if Value.UNBOUND in wrong else wrong[0]), False
        pairs = zip(self.relations, values, values[1:], strict=False)
        return Value.OK, all(scope.domain.holds(relation, a, b) for relation, (_, a), (_, b) in pairs)


def values_text(
    value: Value, expressions: tuple[Expression, ...], scope: Scope, origin: Callable[[str], str] = lambda name: ""
) -> str:
    """ "a division by zero for k = 7, N = 5": what went wrong, then the values that the expressions name. origin: what follows the value
    of a name."""
    names = dict.fromkeys(name for expression in expressions for name in expression.names)
    pairs = [f"{name} = {found}{origin(name)}" for name in names if (found := scope.get_value(name)) is not None]
    before = "" if value is Value.OK or not pairs else " for "
    return value.value + before + ", ".join(pairs)


def _ceildiv(a: Any, b: Any) -> Any:
    return -(-a // b)


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "-x": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "ceildiv": _ceildiv,
}


def _apply(domain: Domain, op: str, a: Any, b: Any) -> tuple[Value, Any]:
    if op in ("min", "max"):
        return Value.OK, domain.minimum(a, b) if op == "min" else domain.maximum(a, b)
    try:
        found = _OPERATORS[op](a, b)
    except ZeroDivisionError:
        return Value.ZERO_DIVISOR, 1
    known = domain.known(found)
    if known is not None and known not in _INT64:
        return Value.OVERFLOW, 1
    return Value.OK, found


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Expression:
    """From the Python text that the core writes: names, integers and operators."""
    return Expression(tuple(_postfix(ast.parse(text, mode="eval").body)))


def parse_item(name: str) -> tuple[str, int] | None:
    """("stride", 0) of "stride[0]"; None of any other name."""
    if not name.endswith("]"):
        return None
    parameter, index = name[:-1].split("[")
    return parameter, int(index)


@functools.lru_cache(maxsize=4096)
def condition(text: str, as_written: str) -> Condition:
    compared = ast.parse(text, mode="eval").body
    assert isinstance(compared, ast.Compare)
    operands = tuple(Expression(tuple(_postfix(each))) for each in (compared.left, *compared.comparators))
    return Condition(operands, tuple(_RELATIONS[type(each)] for each in compared.ops), as_written)


_RELATIONS: dict[type, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_BINARY: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}


def _postfix(node: ast.expr) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.Constant):
        yield "const", node.value
    elif isinstance(node, ast.Name):
        yield "name", node.id
    elif isinstance(node, ast.Subscript):
        yield "name", ast.unparse(node)
    elif isinstance(node, ast.UnaryOp):
        yield from _postfix(node.operand)
        yield "-x", None
    elif isinstance(node, ast.BinOp):
        yield from _postfix(node.left)
        yield from _postfix(node.right)
        yield _BINARY[type(node.op)], None
    else:
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Name)
        if node.func.id in ("numel", "itemsize"):
            assert isinstance(node.args[0], ast.Name)
            yield node.func.id, node.args[0].id
            return
        for each in node.args:
            yield from _postfix(each)
        yield node.func.id, None
