"""Nodes of Python's syntax tree, put where the author wrote what they stand for."""

from __future__ import annotations

import ast
from typing import TypeVar

RUNTIME = "__kernpack_runtime__"  # the runtime's name in a rewritten function
_Node = TypeVar("_Node", bound=ast.AST)


def at(place: ast.AST, node: _Node, end: ast.AST | None = None) -> _Node:
    """Gives a node, and those inside it that have none, a place: that of `place`, up to the end of `end`."""
    last = end or place
    for part in ast.walk(node):
        if "lineno" in part._attributes and getattr(part, "lineno", None) is None:
            for name, source in (
                ("lineno", place),
                ("col_offset", place),
                ("end_lineno", last),
                ("end_col_offset", last),
            ):
                setattr(part, name, getattr(source, name))
    return node


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


def text(value: str | int | None) -> ast.Constant:
    return ast.Constant(value)


def runtime(method: str, *args: ast.expr, keywords: list[ast.keyword] | None = None) -> ast.Call:
    """A call of a method of the runtime."""
    return ast.Call(ast.Attribute(load(RUNTIME), method, ast.Load()), list(args), keywords or [])


def function(value: ast.expr, *names: str) -> ast.Lambda:
    """`lambda names: value`, for values that are computed under a condition or for a counter."""
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    return ast.Lambda(arguments, value)
