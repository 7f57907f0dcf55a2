"""Which variables have a value where, and which change inside a loop or a branch."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence


def targets(statement: ast.stmt) -> Iterator[str]:
    """The variables that a statement itself assigns, without what its blocks assign."""
    given: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        given = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        given = [statement.target]
    for target in given:
        yield from list_names(target)


def list_names(target: ast.expr) -> Iterator[str]:
    """The names of a target: of `a`, or of `a, b`."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from list_names(part)


def blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    if isinstance(statement, ast.For | ast.While | ast.If):
        yield statement.body
        yield statement.orelse


def assigned(statements: Iterable[ast.stmt]) -> set[str]:
    """Variables that statements or their blocks assign."""
    found: set[str] = set()
    for statement in statements:
        found.update(targets(statement))
        for block in blocks(statement):
            found |= assigned(block)
    return found


def changed_inside(statements: Iterable[ast.stmt]) -> set[str]:
    """Variables that the loops and branches among statements assign."""
    return {name for statement in statements for block in blocks(statement) for name in assigned(block)}


def certain(statements: Iterable[ast.stmt]) -> set[str]:
    """Variables that have a value after the statements, whichever branches ran; loops may run no time."""
    found: set[str] = set()
    for statement in statements:
        found.update(targets(statement))
        if isinstance(statement, ast.If):
            found |= certain(statement.body) & certain(statement.orelse)
    return found


def mentioned(statements: Iterable[ast.AST]) -> set[str]:
    return {node.id for statement in statements for node in ast.walk(statement) if isinstance(node, ast.Name)}


def counters(statements: Iterable[ast.stmt]) -> set[str]:
    """Names of loops."""
    loops = [node for statement in statements for node in ast.walk(statement) if isinstance(node, ast.For)]
    return {name for loop in loops for name in list_names(loop.target)}


class Scope:
    """The variables that have a value at a place of the function."""

    def __init__(self, values: Sequence[str], tensors: Sequence[str], body: Sequence[ast.stmt]) -> None:
        self._kinds = {**dict.fromkeys(values, "value"), **dict.fromkeys(tensors, "tensor")}
        self._own = assigned(body) | counters(body)
        self._lost: dict[str, str] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._kinds

    def kind(self, name: str) -> str:
        """value, cell (changes inside a loop or branch), counter or tensor; "" for a name of the module."""
        return self._kinds.get(name, "")

    def set(self, name: str, kind: str) -> None:
        self._kinds[name] = kind

    def why_not(self, name: str) -> str | None:
        """Why a name has no value here; None: it isn't the function's own."""
        if name in self._kinds or name not in self._own:
            return None
        return self._lost.get(name, f"`{name}` has no value yet: assign it before, such as `{name} = 0.0`")

    def enter(self) -> dict[str, str]:
        return dict(self._kinds)

    def leave(self, before: dict[str, str], block: str) -> None:
        """Ends a block, "the loop on line 3": what it created has no value any more."""
        for name in self._kinds.keys() - before.keys():
            self._lost[name] = (
                f"`{name}` counts {block}, and has no value after it"
                if self._kinds[name] == "counter"
                else f"`{name}` has a value only inside {block}: assign it before, such as `{name} = 0.0`"
            )
        self._kinds = before
