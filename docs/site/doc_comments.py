"""A header with its comments in the form that doxygen reads.

The headers speak plain C and C++: a comment above a declaration, or behind it on the same line. Doxygen takes only `///` and
`/** */` as documentation, and reads backslashes, `<` and `@` in it as commands; here both are brought together, so that no header
has to be written for one tool."""

from __future__ import annotations

import re

# A comment behind code. A quote before `//` could be a string with an address in it.
_TRAILING = re.compile(r'^(?P<code>[^"\']*[;,{)\w]\s+)(?P<open>//|/\*)(?P<text>.*)$')
_SECTION = re.compile(r"^/\* -{3,}|^// -{3,}")
_CODE = re.compile(r"(`[^`]*`)")
_SPECIAL = re.compile(r"([\\@<>#&%|~])")


def escaped(text: str) -> str:
    """The text as doxygen has to be given it to show it as it is. Words with underscores or parentheses are code."""
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") else _SPECIAL.sub(r"\\\1", part).replace("*", r"\*") for part in parts)


def _of_file(lines: list[str]) -> int:
    """How many of the first lines are the comment about the file: the one that the include guard follows."""
    end = 0
    for end, line in enumerate(lines):
        if line.startswith("#ifndef"):
            return end
    return 0


# Constructs that breathe shows twice or not at all: a struct and its typedef, friends, specialisations in namespace std.
_SIMPLER = [
    (re.compile(r"^typedef struct (\w+) \1;$", re.MULTILINE), r"struct \1;"),
    (re.compile(r"^typedef struct (\w+) \{", re.MULTILINE), r"struct \1 {"),
    (re.compile(r"^\} Kp\w+;", re.MULTILINE), "};"),
    (re.compile(r"^ *friend (class|struct) .*;$", re.MULTILINE), ""),
    (re.compile(r"^template <>\nstruct std::hash<.*?^\};$", re.MULTILINE | re.DOTALL), ""),
]


def converted(source: str) -> str:
    for pattern, simpler in _SIMPLER:
        source = pattern.sub(simpler, source)
    lines = source.splitlines()
    of_file = _of_file(lines)
    result = ["" for _ in range(of_file)]  # docs/site/reference.py shows it above the declarations
    block = False  # inside /* */
    code = False  # inside lines of use: `//   ` after an empty comment line
    macro = False  # inside a #define that goes on
    for line in lines[of_file:]:
        stripped = line.lstrip()
        if code and not stripped.startswith("//   "):
            result.append("///@endverbatim")
            code = False
        indent = line[: len(line) - len(stripped)]
        if block:
            block = "*/" not in stripped
            body, closing, rest = stripped.partition("*/")
            star = "*" if body.startswith("*") else ""
            result.append(f"{indent}{star}{escaped(body[len(star) :])}{closing}{rest}")
        elif macro or _SECTION.match(stripped):
            result.append(line)
        elif code or (stripped.startswith("//   ") and result and result[-1].strip() == "///"):
            result += [] if code else [f"{indent}///@verbatim"]
            code = True
            result.append(f"{indent}///{stripped[5:]}")
        elif stripped.startswith("//"):
            result.append(f"{indent}///{escaped(stripped[2:])}")
        elif stripped.startswith("/*"):
            body, closing, rest = stripped[2:].partition("*/")
            block = not closing
            result.append(f"{indent}/**{escaped(body)}{closing}{rest}")
        elif found := _TRAILING.match(line):
            body, closing, rest = found["text"].partition("*/")
            opening = "///<" if found["open"] == "//" else "/**<"
            block = opening == "/**<" and not closing
            result.append(f"{found['code']}{opening}{escaped(body)}{closing}{rest}")
        else:
            result.append(line)
        macro = stripped.endswith("\\") and (macro or stripped.startswith("#"))
    return "\n".join(result) + "\n"
