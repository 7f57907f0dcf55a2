"""Finds the wrong argument of a call. The extension asks when a call of its functions fails."""

from __future__ import annotations

import re
from operator import index
from typing import Any

_CLOSES = {"[": "]", "(": ")", "{": "}"}
_SPELLED = {
    "typing.SupportsInt": "int",
    "typing.SupportsIndex": "int",
    "typing.SupportsFloat": "float",
    "collections.abc.Callable": "a function",
    "collections.abc.Iterable": "an iterable",
    "collections.abc.Sequence": "a list",
}


def explain(function: str, message: str, args: list[Any], kwargs: dict[str, Any]) -> str:
    """One line for pybind11's `message`, which lists the forms of the function."""
    form = re.search(r"^    1\. [^(]*\((.*)\)(?: -> .*)?$", message, re.MULTILINE)
    if form is None or "\n    2. " in message:
        return message
    params = [_param(text) for text in _split(form[1])]
    if "incompatible constructor" in message or (params and params[0][0] == "self"):
        args = args[1:]  # the object
        params = [param for param in params if param[0] != "self"]
    return f"{function}: {_fault(params, args, kwargs)}"


def _fault(params: list[tuple[str, str, str | None]], args: list[Any], kwargs: dict[str, Any]) -> str:
    names = [name for name, _, _ in params]
    if len(args) > len(params):
        return f"expected {_form(params)}, got {len(args)} arguments"
    given = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name not in names:
            return f"expected {_form(params)}, got '{name}='"
        if name in given:
            return f"{name}: was given twice"
        given[name] = value
    missing = [name for name, _, default in params if default is None and name not in given]
    if missing:
        return f"expected {_form(params)}, got no {' and no '.join(missing)}"
    for name, kind, _ in params:
        if name in given and not _fits(kind, given[name]):
            return f"{name}: expected {_spelled(kind)}, got {_shown(given[name])}"
    for name, kind, _ in params:  # of the right type, but out of range
        if name in given and "SupportsI" in kind and isinstance(given[name], int):
            return f"{name}: expected an int of fewer bits, got {given[name]}"
    return f"expected {_form(params)}"


def _form(params: list[tuple[str, str, str | None]]) -> str:
    return "(" + ", ".join(name if default is None else f"{name}={default}" for name, _, default in params) + ")"


def _split(text: str, sign: str = ",") -> list[str]:
    """The parts between signs that stand outside of brackets and quotes."""
    parts, closes, quote = [""], [], ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in _CLOSES:
            closes.append(_CLOSES[c])
        elif closes and c == closes[-1]:
            closes.pop()
        if c == sign and not closes and not quote:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def _param(text: str) -> tuple[str, str, str | None]:
    """Name, type and default of "name: type = default"."""
    head, *default = _split(text, "=")
    name, _, kind = head.partition(":")
    return name.strip(), kind.strip() or "object", default[0] if default else None


def _fits(kind: str, value: Any) -> bool:
    choices = _split(kind, "|")
    if len(choices) > 1:
        return any(_fits(choice, value) for choice in choices)
    name, _, item = kind.partition("[")
    if name in ("typing.SupportsInt", "typing.SupportsIndex"):
        return _is_index(value)
    if name == "typing.SupportsFloat":
        return isinstance(value, (int, float))
    if name == "collections.abc.Callable":
        return callable(value)
    if name == "collections.abc.Iterable":
        return hasattr(value, "__iter__")
    if name == "collections.abc.Sequence":
        listed = isinstance(value, (list, tuple))
        return listed and all(_fits(item.removesuffix("]"), one) for one in value)
    if name in ("object", "typing.Any"):
        return True
    if name == "None":
        return value is None
    return any(base.__name__ == name.rpartition(".")[2] for base in type(value).__mro__)


def _is_index(value: Any) -> bool:
    try:
        index(value)
    except TypeError:
        return False
    return True


def _spelled(kind: str) -> str:
    words = list(dict.fromkeys(_word(choice) for choice in _split(kind, "|")))
    return " or ".join(words)


def _word(kind: str) -> str:
    name, _, item = kind.partition("[")
    if name == "collections.abc.Sequence" and item:
        return f"a list of {_spelled(item.removesuffix(']'))}"
    return _SPELLED.get(name, name.rpartition(".")[2])


def _shown(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, (bool, int, float, str)) and len(repr(value)) < 40:
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, (list, tuple)) and value:
        return f"{type(value).__name__} of {' and '.join(dict.fromkeys(type(one).__name__ for one in value))}"
    return type(value).__name__
