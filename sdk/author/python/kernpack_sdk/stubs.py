"""`kernpack stubs`: a .pyi file from the signatures inside a built module, for editors and type checkers."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable

from kernpack_sdk.table import Function

_HEADER = """\
# Written by `kernpack stubs` from the signatures in the compiled module.
from collections.abc import Sequence
from typing import Any, Literal, TypeVar, overload

_Array = TypeVar("_Array")  # results come back as the caller's kind of array
"""
_SCALARS = {"int": "int", "float": "float", "bool": "bool", "str": "str", "dtype": "object", "device": "object"}
_OPEN, _CLOSE = "([{", ")]}"


def split_top(text: str, separator: str = ",") -> list[str]:
    """Splits at separators outside brackets and quotes; no empty last item."""
    items, depth, quote, start = [], 0, "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in _OPEN:
            depth += 1
        elif c in _CLOSE:
            depth -= 1
        elif c == separator and depth == 0:
            items.append(text[start:i].strip())
            start = i + 1
    items.append(text[start:].strip())
    return items if items[-1] else items[:-1]


def _group(text: str) -> tuple[str, str]:
    """The inside of the parentheses that `text` starts with, and what follows them."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c in _OPEN) - (c in _CLOSE)
        if depth == 0:
            return text[1:i], text[i + 1 :].lstrip()
    raise ValueError(f"signature: unbalanced parentheses in '{text}'")


def _annotation(kind: str) -> str:
    optional = kind.endswith("?")
    kind = kind.removesuffix("?").strip()
    if kind.startswith("list["):
        result = f"Sequence[{_annotation(kind[5:-1])}]"
    elif choices := re.fullmatch(r"str\s+in\s+\{(.*)\}", kind):
        result = f"Literal[{', '.join(split_top(choices[1]))}]"
    elif kind in _SCALARS:
        result = _SCALARS[kind]
    else:
        result = "_Array | float" if "[]" in kind.replace(" ", "") else "_Array"
    return f"{result} | None" if optional else result


def _default(text: str) -> str:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return "..."  # inf, nan or a dtype
    return repr(value) if isinstance(value, (int, float, str, bool, type(None))) else "..."


def _parameter(text: str) -> str:
    if text == "*":
        return text
    name, declaration = split_top(text, ":")
    kind, *default = split_top(declaration, "=")
    suffix = f" = {_default(default[0])}" if default else ""
    return f"{name.rstrip('!').strip()}: {_annotation(kind)}{suffix}"


def _typed(name: str, signature: str) -> list[str]:
    """Where there are aux results, first the head of a call that asks for them."""
    parameters, rest = _group(signature[signature.index("(") :])
    results, _ = _group(rest.removeprefix("->").lstrip())
    arguments = [_parameter(p) for p in split_top(parameters)]
    every = split_top(results)
    returned = [r for r in every if not re.search(r"\baux$", r)]
    array = "_Array" if any("_Array" in a for a in arguments) else "Any"
    if not returned:
        return [f"def {name}({', '.join(arguments)}) -> None:"]
    takes_destinations = not any(a.startswith("out:") for a in arguments)  # else a parameter has that name
    if takes_destinations and "*" not in arguments:
        arguments.append("*")

    def head(count: int, default: str) -> str:
        result = array if count == 1 else f"tuple[{', '.join([array] * count)}]"
        out = array if count == 1 else f"tuple[{', '.join([f'{array} | None'] * count)}]"
        destinations = [f"out: {out}{default}"] if takes_destinations else []
        return f"def {name}({', '.join([*arguments, *destinations])}) -> {result}:"

    heads = [head(len(returned), " | None = None")]
    return heads if len(returned) == len(every) or not takes_destinations else [head(len(every), ""), *heads]


def _function(function: Function) -> str:
    if function.signature is None:
        heads = [f"def {function.name}(*args: Any) -> Any:"]
        contract = f"{function.name}{function.cxx_types}" if function.cxx_types else function.name
    else:
        heads = _typed(function.name, function.signature)
        contract = function.signature.strip()
        contract = contract if contract.startswith(function.name) else function.name + contract
    text = contract + (f"\n\n{function.doc.strip()}" if function.doc else "")
    text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if text.endswith('"'):  # it would join the quotes that end the docstring: `... with on "cuda"`
        text = text[:-1] + '\\"'
    if len(heads) > 1:
        heads = [f"@overload\n{head}" for head in heads]
    return "\n".join(f"{head}\n" + textwrap.indent(f'"""{text}"""\n', "    ") for head in heads)


def render(functions: Iterable[Function]) -> str:
    """The stub file's text: one entry a function name, sorted; variants of one function share their entry."""
    first: dict[str, Function] = {}
    for function in functions:
        first.setdefault(function.name, function)
    return "\n".join([_HEADER, *(_function(first[name]) for name in sorted(first))])
