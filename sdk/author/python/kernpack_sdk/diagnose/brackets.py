"""Lost brackets, quotes and semicolons. Compilers notice them far below, in the macros that follow; the source itself says where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .blocks import HEAD, Place, find_errors, find_place, places
from .sources import read_lines

_CLOSING = {")": "(", "]": "[", "}": "{"}
_OPENING = {opening: closing for closing, opening in _CLOSING.items()}
_SYNTAX = re.compile(
    r"expected|unterminated|missing terminating|parse error|extraneous|a function-definition is not allowed|"
    r"function definition is not allowed|shall not have static data member|stray|unclosed|missing closing quote|unrecognized token"
)
_TOKEN = re.compile(
    r"""
    //(?:[^\n\\]|\\.)*                   # comments
    | /\*.*?(?:\*/|\Z)
    | ^[ \t]*\#(?:[^\n\\]|\\.)*           # directives, with the lines that they go on to
    | R"(?P<mark>[^\s()\\"]{0,16})\(.*?\)(?P=mark)"
    | "(?:[^"\\\n]|\\.)*(?P<end>"|$)
    | (?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)*'
    | (?P<one>[()\[\]{};])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


@dataclass
class _Open:
    bracket: str
    line: int
    indent: int
    is_head: bool  # of for, if, switch, whose parentheses hold a ';'
    semicolon: int = 0  # the line of the first ';' in it; statements as a macro's argument have one too
    closed: int = 0  # the line, further left, of the bracket that closed it


def lost(block: str) -> str:
    """Which bracket or quote is lost, where an error is about syntax."""
    if not _SYNTAX.search(find_errors(block)):
        return ""
    first = find_place(block)
    for file in dict.fromkeys(place.file for place in places(block) if place.authors):
        if said := _unbalanced(file, first):
            return HEAD + said
    return ""


def _unbalanced(file: str, first: Place | None) -> str:
    lines = read_lines(file)
    text = "\n".join(lines)
    stack: list[_Open] = []
    branches: list[list[_Open]] = []  # the stack at each #if, for its #else
    outdented: list[_Open] = []  # closed by a line that is further left: one further in lost its own
    for token, line, before in _tokens(text):
        directive = re.match(r"[ \t]*#[ \t]*(if|elif|else|endif)", token)
        if directive:
            _branch(directive[1], branches, stack)
        elif token.startswith('"') and (len(token) < 2 or not token.endswith('"')):
            return f"{file}:{line}: a '\"' is missing on this line: a string isn't closed"
        elif token == ";":
            if stack and stack[-1].bracket in "([" and not stack[-1].is_head:
                stack[-1].semicolon = stack[-1].semicolon or line
        elif token in _OPENING:
            head = token == "(" and re.search(r"\b(?:for|if|switch)\s*(?:constexpr\s*)?$", before) is not None
            stack.append(_Open(token, line, _indent(lines[line - 1]), head))
        elif token in _CLOSING:
            leads = not before.strip(" \t)]}")
            if not stack:
                return _closes_nothing(file, token, line, first)
            opened = stack[-1]
            if opened.bracket == _CLOSING[token]:
                stack.pop()
                if token == "}" and leads and _indent(lines[line - 1]) < opened.indent:
                    opened.closed = line
                    outdented.append(opened)
                continue
            if said := _ended_by_semicolon(file, stack):
                return said
            if opened.bracket == "{" and not leads:
                return _closes_nothing(file, token, line, first)
            culprit = _culprit(opened, outdented)
            before = f"before the '{'}' if culprit.closed else token}' on line {culprit.closed or line}"
            return _unclosed(file, culprit, before, line)
    if stack:
        culprit = _culprit(stack[-1], outdented)
        before = f"before the '}}' on line {culprit.closed}" if culprit.closed else "before the end of the file"
        return _ended_by_semicolon(file, stack) or _unclosed(file, culprit, before, len(lines))
    return ""


def _tokens(text: str) -> Iterator[tuple[str, int, str]]:
    """Brackets, semicolons, strings and directives, each with its line number and the text before it on that line."""
    line, counted = 1, 0
    for found in _TOKEN.finditer(text):
        line += text.count("\n", counted, found.start())
        counted = found.start()
        token = found[0]
        is_string = found["end"] is not None
        if found["one"] or is_string or token.lstrip().startswith("#"):
            yield token, line, text[text.rfind("\n", 0, found.start()) + 1 : found.start()]


def _branch(word: str, branches: list[list[_Open]], stack: list[_Open]) -> None:
    if word == "if":
        branches.append(list(stack))
    elif branches and word == "endif":
        branches.pop()
    elif branches:
        stack[:] = branches[-1]


def _ended_by_semicolon(file: str, stack: list[_Open]) -> str:
    """Where one of the open parentheses holds the end of a statement, that is the one that isn't closed."""
    for each in stack:
        if each.semicolon:
            return _unclosed(file, each, f"before the ';' on line {each.semicolon}", each.semicolon)
    return ""


def _culprit(opened: _Open, outdented: list[_Open]) -> _Open:
    """By the indentation: the first brace inside the one that is open at last which was closed by another's line."""
    return next((each for each in outdented if each.line >= opened.line), opened)


def _unclosed(file: str, opened: _Open, before: str, line: int) -> str:
    closing = _OPENING[opened.bracket]
    if opened.line == line:
        return f"{file}:{line}: a '{closing}' is missing on this line: its '{opened.bracket}' isn't closed"
    return f"{file}:{opened.line}: the '{opened.bracket}' of this line isn't closed: a '{closing}' is missing {before}"


def _closes_nothing(file: str, token: str, line: int, first: Place | None) -> str:
    text = f"{file}:{line}: this '{token}' closes nothing: remove it, or add the '{_CLOSING[token]}' that is missing"
    if first and first.file == file and first.line < line:
        text += f"; the compiler's first error is on line {first.line}"
    return text


def _indent(line: str) -> int:
    return len(line.expandtabs(8)) - len(line.expandtabs(8).lstrip())


_EXPECTED = re.compile(r"error: expected (?:[\u2018'\"].{1,3}[\u2019'\"],? or |.*?\ba )?[\u2018'\"];[\u2019'\"]")
_BEFORE_MACRO = re.compile(r"before [\u2018'](?:namespace|extern)\b")  # how what KP_EXPORT and KP_MODULE make begins


def semicolon(block: str) -> str:
    """After which code a semicolon is lost."""
    error, place = find_errors(block), find_place(block)
    if place is None or not _EXPECTED.search(error):
        return ""
    lines = read_lines(place.file)
    line = place.line
    if not 0 < line <= len(lines):
        return ""
    before = lines[line - 1][: place.column - 1] if place.column else ""
    while line > 1 and not _code(before):  # compilers that name the token after it
        line -= 1
        before = lines[line - 1]
    code = _code(before)
    ends = ";{,(" if re.search(r"after (?:struct|class|enum|union)\b", error) else ";{},("
    if not code or code[-1] in ends or code.lstrip().startswith(("#", "*", "/*")):
        return ""
    if code.endswith(")") and _BEFORE_MACRO.search(error):
        return ""  # common.py says which macros end in one
    return f"{HEAD}{place.file}:{line}: a ';' is missing after '{code.strip()[-60:]}'"


def _code(line: str) -> str:
    return re.sub(r"//.*|/\*.*?\*/", "", line).rstrip()
