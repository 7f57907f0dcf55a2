"""Contracts that don't parse, and C++ functions that don't fit theirs."""

from __future__ import annotations

import functools
import re

from .blocks import HEAD, where
from .headers import header
from .names import nearest
from .sources import STRING, Export, literal

_REASON = re.compile(
    r"Diagnose<(?:[\w:]*::)?Reason::(k\w+|\(\w[^)]*\)\d+), (\d+)>"
    r"|Diagnose<\w+, \w+> \[with reason=(?:[\w:]*::)?Reason::(k\w+), \w+=(\d+)U?\]"  # nvcc's
)
_PARAMETER = re.compile(r"ParameterFits<(\d+), (\d+), (\d+), (.+)>[\u2019'` ]")
_RESULT = re.compile(r"ResultFits<(\d+), (.+?)>[\u2019'` ]")
_COUNT = re.compile(r"(?:the comparison reduces to|evaluates to) [\u2018']\(?(\d+) == (\d+)\)?[\u2019']")
_CROSSING = re.compile(r"check_parameter(?:\(\) \[with T = ([^;\]]+)|<(.+?)>)")
_GIVEN = "the C++ type given is"


def reason(block: str) -> tuple[str, int] | None:
    """Why a contract doesn't parse, and at which byte, where a block is about that."""
    found = _REASON.search(block)
    return (found[1] or found[3], int(found[2] or found[4])) if found else None


def unparsed(block: str, export: Export | None, reason: str, position: int) -> str:
    """A contract that doesn't parse."""
    sentence = _sentences().get(reason, reason)
    if export is None:
        return f"{HEAD}{where(block)}a contract doesn't parse at byte {position}: {sentence}"
    head = f"{export.where}: the contract of '{export.name}' doesn't parse: {sentence}"
    if export.text is None:
        return f"{HEAD}{head} (at byte {position} of its text)"
    head += _near(export.text, reason, position)
    return f"{HEAD}{head}\n  {export.text}\n  {' ' * _column(export.text, position)}^"


def _column(text: str, position: int) -> int:
    return len(text.encode("utf-8")[:position].decode("utf-8", "replace"))


def _near(text: str, reason: str, position: int) -> str:
    """The contract that was probably meant."""
    if reason == "kExpectedOpeningParenthesis":
        return " around the parameters, and around the results, as in (x: f32[N]) -> (out: f32[N])"
    here = _column(text, position)
    for of, before, behind, hint in _HINTS:
        if of == reason and before.search(text[:here]) and behind.match(text[here:]):
            return f"; {hint}"
    word = re.match(r"\w+", text[here:])
    if reason != "kUnknownDType" or word is None:
        return ""
    names = {name: name for name in (*_dtypes().values(), "int", "float", "bool", "str")} | _dtypes() | _ELSEWHERE
    if meant := nearest(word[0], names):
        return f" '{word[0]}'; did you mean '{names[meant]}'?"
    return f" '{word[0]}'; numbers are int, float and bool, tensors {', '.join(_dtypes().values())}, or a variable: T"


# For each reason: a pattern of the text before the place, one of the text from the place on, and what was probably meant.
_HINTS = [
    (reason, re.compile(f"(?:{before})$"), re.compile(behind), hint)
    for reason, before, behind, hint in (
        ("kUnexpectedCharacter", r"", r"/(?!/)", "sizes are divided by '//', as in D // 2"),
        ("kUnexpectedCharacter", r"", r";", "parameters are separated by ','"),
        ("kUnexpectedCharacter", r"", r"[\u2192\u21d2]", "the arrow is '->', in ASCII"),
        ("kExpectedArrow", r"", r"=", "the arrow is '->'"),
        ("kExpectedClosingParenthesis", r"", r"!", "write '!' after the name: x!: f32[N]"),
        ("kExpectedClosingParenthesis", r"->.*", r"strided", "'strided' is for parameters: a result is compact"),
        ("kUnknownDType", r"->.*", r"list\b", "'list' is for parameters: name each result, (a: f32[N], b: f32[N])"),
        ("kUnknownDType", r"", r"Tensor\b", "'Tensor': write dtype and shape, as in f32[N, D]"),
        ("kUnknownDType", r"", r"Optional\b", "'Optional': what may be None is marked '?', as in w: f32[N]? = None"),
        ("kUnknownDType", r"", r"List\b", "'List': in lower case, as in xs: list[f32[_]]"),
        ("kExpectedClosingBracket", r"Optional\[.*", r"", "what may be None is marked '?', as in w: f32[N]? = None"),
        ("kReservedName", r"->\s*\(\s*", r"\w+\[", "a result has a name: (out: f32[N])"),
        ("kNameMustBeLowerCase", r"", r"\w+\s+\w", "a parameter is a name, ':' and a type, as in x: f32[N]"),
        ("kNotAnIntParameter", r"[\[,]\s*", r"[a-z]", "dims are upper-case: N"),
        ("kVariableIsBothDTypeAndDim", r"", r"\w+\s*=", "a variable's dtypes are a set, as in where T in {f32, f64}"),
        (
            "kVariableIsBothDTypeAndDim",
            r"\bwhere\b.*",
            r"",
            "a variable's dtypes are a set, as in where T in {f32, f64}",
        ),
        ("kExpectedDTypeSet", r"", r"[\[(]", "as in where T in {f32, f64}"),
        ("kExpectedRelation", r"", r"=(?!=)", "write '==' for equality"),
        ("kExpectedEndWhereOrWith", r"\bwith\b.*", r"\w", "properties are separated by ','"),
        ("kExpectedDefault", r"", r"true\b|false\b", "as in Python: True, False"),
        ("kExpectedDefault", r"", r"nullptr\b|null\b|none\b", "as in Python: None"),
        ("kExpectedColon", r"->.*", r"!", "results don't take '!': a kernel always writes them"),
        (
            "kDimNeverBound",
            r"->.*",
            r"",
            "give a parameter the dim by itself, as in x: f32[N]; where data decide the size, give a bound and a count "
            "(docs/patterns.md)",
        ),
        ("kDimNeverBound", r"", r"", "give a parameter the dim by itself, as in x: f32[N]"),
    )
]
_ELSEWHERE = {"integer": "int", "double": "f64", "half": "f16", "long": "i64", "string": "str", "boolean": "bool"}


def misfit(block: str, export: Export | None, said: str) -> str:
    said = said.removeprefix("KP_EXPORT: ")
    head = f"{export.where}: '{export.name}': " if export else where(block)
    if parameter := _PARAMETER.search(block):
        index, given = int(parameter[1]), plain(parameter[4])
        name = export.parameter(index) if export else ""
        number = f"C++ parameter {index + 1}{f' ({name})' if name else ''}"
        return f"{HEAD}{head}{number}: {said.removeprefix('this C++ parameter ')}; {_GIVEN} {given}"
    if result := _RESULT.search(block):
        return f"{HEAD}{head}C++ parameter {int(result[1]) + 1}: {said}; {_GIVEN} {plain(result[2])}"
    if crossing := _CROSSING.search(block):
        return f"{HEAD}{head}{said}; {_GIVEN} {plain(crossing[1] or crossing[2])}"
    if numbered := re.match(r"C\+\+ parameter (\d+) ", said):
        name = export.parameter(int(numbered[1]) - 1) if export else ""
        return f"{HEAD}{head}{numbered[0]}{f'({name}) ' if name else ''}{said[numbered.end() :]}"
    if "must have one parameter for each" in said and (count := _COUNT.search(block)):
        has, wants = count.groups()
        parameters = "1 parameter" if has == "1" else f"{has} parameters"
        return f"{HEAD}{head}the C++ function has {parameters}, the contract needs {wants}: {said}"
    return f"{HEAD}{head}{said}"


def plain(cxx: str) -> str:
    """A C++ type as its author wrote it."""
    return re.sub(r"kernpack::v\d+\w*::", "kp::", cxx).replace("std::basic_string<char>", "std::string").strip()


@functools.cache
def _sentences() -> dict[str, str]:
    """Of each reason the sentence that stands beside it in the header."""
    row = rf"^\s*X\((k\w+),((?:[\s\\]*{STRING})+)\)"
    rows = re.findall(row, header("signature/reason.h"), re.MULTILINE)
    return {name: literal(text) or "" for name, text in rows}


@functools.cache
def _dtypes() -> dict[str, str]:
    """The names of contracts by those of frameworks: "float32": "f32"."""
    rows = re.findall(r'^\s*X\(\w+, "(\w+)", "(\w+)"', header("dtype_table.h"), re.MULTILINE)
    return {word: name for name, word in rows}
