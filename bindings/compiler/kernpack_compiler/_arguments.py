"""Finds the wrong argument of a call. The extension asks when a call of its functions fails."""

from __future__ import annotations

import ast
from functools import cache
from operator import index
from typing import Any, NamedTuple

_SPELLED = {
    "typing.SupportsInt": "int",
    "typing.SupportsIndex": "int",
    "typing.SupportsFloat": "float",
    "collections.abc.Callable": "a function",
    "collections.abc.Iterable": "an iterable",
    "collections.abc.Sequence": "a list",
}


class _Param(NamedTuple):
    name: str
    kinds: tuple[ast.expr, ...]  # any of them
    default: str | None


def explain(function: str, signature: str, args: list[Any], kwargs: dict[str, Any]) -> str:
    """One line about a call of the function. The signature is pybind11's: `(self: a.B, n: int = 1) -> None`."""
    params = _params(signature)
    if params and params[0].name == "self":
        args, params = args[1:], params[1:]
    return f"{function}: {_fault(params, args, kwargs)}"


@cache
def _params(signature: str) -> list[_Param]:
    text = signature.rpartition(" -> ")[0].replace("::", ".")  # types that are bound after the function have C++ names
    (function,) = ast.parse(f"def function{text}: ...").body
    assert isinstance(function, ast.FunctionDef)
    listed = function.args
    defaults = [None] * (len(listed.args) - len(listed.defaults)) + [ast.unparse(one) for one in listed.defaults]
    params = zip(listed.args, defaults, strict=True)
    more = [_Param(f"*{listed.vararg.arg}", (), "")] if listed.vararg else []
    return [_Param(param.arg, _kinds(param.annotation), default) for param, default in params] + more


def _fault(params: list[_Param], args: list[Any], kwargs: dict[str, Any]) -> str:
    names = [param.name for param in params]
    if params and names[-1][0] == "*":
        names, args = names[:-1], args[: len(params) - 1]
    if len(args) > len(params):
        return f"expected {_form(params)}, got {len(args)} arguments"
    given = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name not in names:
            return f"expected {_form(params)}, got '{name}='"
        if name in given:
            return f"{name}: was given twice"
        given[name] = value
    missing = [param.name for param in params if param.default is None and param.name not in given]
    if missing:
        return f"expected {_form(params)}, got no {' and no '.join(missing)}"
    for name, kinds, _ in params:
        if name in given and not _fits(kinds, given[name]):
            return f"{name}: expected {_spelled(kinds)}, got {_shown(given[name])}"
    for name, kinds, _ in params:  # of the right type, but out of range
        if name in given and "int" in map(_word, kinds) and isinstance(given[name], int):
            return f"{name}: expected an int of fewer bits, got {given[name]}"
    return f"expected {_form(params)}"


def _form(params: list[_Param]) -> str:
    return "(" + ", ".join(f"{name}={default}" if default else name for name, _, default in params) + ")"


def _kinds(annotation: ast.expr | None) -> tuple[ast.expr, ...]:
    """The types of `a | b`."""
    if isinstance(annotation, ast.BinOp):
        return *_kinds(annotation.left), *_kinds(annotation.right)
    return () if annotation is None else (annotation,)


def _name(kind: ast.expr) -> str:
    """`list` of `list[int]`."""
    return ast.unparse(kind.value if isinstance(kind, ast.Subscript) else kind)


def _fits(kinds: tuple[ast.expr, ...], value: Any) -> bool:
    return any(_is(kind, value) for kind in kinds)


def _is(kind: ast.expr, value: Any) -> bool:
    match _name(kind):
        case "typing.SupportsInt" | "typing.SupportsIndex":
            return _is_index(value)
        case "typing.SupportsFloat":
            return isinstance(value, (int, float))
        case "collections.abc.Callable":
            return callable(value)
        case "collections.abc.Iterable":
            return hasattr(value, "__iter__")
        case "collections.abc.Sequence":
            listed = isinstance(value, (list, tuple))
            return listed and (
                not isinstance(kind, ast.Subscript) or all(_fits(_kinds(kind.slice), one) for one in value)
            )
        case "object" | "typing.Any":
            return True
        case "None":
            return value is None
        case name:
            return any(base.__name__ == name.rpartition(".")[2] for base in type(value).__mro__)


def _is_index(value: Any) -> bool:
    try:
        index(value)
    except TypeError:
        return False
    return True


def _spelled(kinds: tuple[ast.expr, ...]) -> str:
    return " or ".join(dict.fromkeys(map(_word, kinds)))


def _word(kind: ast.expr) -> str:
    name = _name(kind)
    if name == "collections.abc.Sequence" and isinstance(kind, ast.Subscript):
        return f"a list of {_spelled(_kinds(kind.slice))}"
    return _SPELLED.get(name, name.rpartition(".")[2])


def _shown(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, (bool, int, float, str)) and len(repr(value)) < 40:
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, (list, tuple)) and value:
        return f"{type(value).__name__} of {' and '.join(dict.fromkeys(type(one).__name__ for one in value))}"
    return type(value).__name__
