"""Reads the names that the code of a forward uses. A trial shows its results for some numbers; the names show if other numbers could
give more."""

from __future__ import annotations

import dis
import inspect
import types
from collections.abc import Iterable, Iterator
from typing import Any

_COMPARES_SIZE = {"<", ">", "<=", ">="}


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def foreign(forward: Any, owner: Any, allowed: Iterable[str]) -> list[str]:
    """The names in the code of `forward`, and of the methods of `owner` that it calls, but for those in `allowed` and for numbers and
    strings that `owner` holds; "<" where it asks which of two is larger. Empty: a trial shows all that the code does."""
    found: set[str] = set()
    for code in _codes(forward, owner, set()):
        found.update(name for name in code.co_names if name not in allowed and not _is_shown(name, owner))
        if any(step.opname == "COMPARE_OP" and step.argval in _COMPARES_SIZE for step in dis.get_instructions(code)):
            found.add("<")
    return sorted(found)


def numbers(forward: Any, owner: Any) -> list[float]:
    """The numbers of `owner` that the code names, and those that stand in it."""
    found = []
    for code in _codes(forward, owner, set()):
        named = (inspect.getattr_static(owner, name, None) for name in code.co_names)
        found += [x for x in (*named, *code.co_consts) if isinstance(x, (int, float)) and not isinstance(x, bool)]
    return found


def _is_shown(name: str, owner: Any) -> bool:
    value = inspect.getattr_static(owner, name, None)
    return name != "training" and (isinstance(value, (bool, int, float, str)) or _function(value) is not None)


def _function(value: Any) -> types.FunctionType | None:
    """The code of a method, unless torch wrote it."""
    value = getattr(value, "__func__", value)
    is_theirs = isinstance(value, types.FunctionType) and not (value.__module__ or "").startswith("torch.")
    return value if is_theirs else None


def _codes(value: Any, owner: Any, seen: set[types.CodeType]) -> Iterator[types.CodeType]:
    """Of a function, of what it wraps, of functions inside it and of the methods of `owner` that it names."""
    function = _function(value)
    if function is None or function.__code__ in seen:
        return
    stack: list[types.CodeType] = [function.__code__]
    names: set[str] = set()
    while stack:
        code = stack.pop()
        seen.add(code)
        yield code
        names.update(code.co_names)
        stack += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
    yield from _codes(getattr(function, "__wrapped__", None), owner, seen)
    bases = type(owner).__mro__[1:] if "super" in names else ()
    for name in sorted(names):
        for place in (owner, *bases):
            yield from _codes(inspect.getattr_static(place, name, None), owner, seen)
