"""What a compiler's output means for an author of kernels: contracts that don't parse and C++ functions that don't fit theirs.

Both are found by the compiler, in templates; the few facts among its thousands of bytes are picked out here and said in one line
each, with the position in the contract marked. CMake runs this file as a program around the compiler (kernpack_add_module.cmake),
with any Python and nothing of the SDK importable: it uses the standard library alone.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

_HEAD = "kernpack: "
_ALL = "KERNPACK_COMPILER_OUTPUT"  # the variable that keeps all that the compiler says
_REASON = re.compile(r"Diagnose<(?:[\w:]*::)?Reason::(k\w+|\(\w[^)]*\)\d+), (\d+)>")
_PLACE = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)? ", re.MULTILINE)
_PARAMETER = re.compile(r"ParameterFits<(\d+), (\d+), (\d+), (.+)>[\u2019'` ]")
_RESULT = re.compile(r"ResultFits<(\d+), (.+?)>[\u2019'` ]")
_ASSERTION = re.compile(
    r"error: static assertion failed(?: due to requirement '.*?')?: \"?([^\n\"].*?)\"?$", re.MULTILINE
)
_OURS = re.compile(r"KP_\w+: ")
# These say that there is a mistake; others of the same compilation say which.
_SAYS_NOTHING = re.compile(r" does not fit the signature of |^kernpack: this signature does not compile")
_COUNT = re.compile(r"(?:the comparison reduces to|evaluates to) [\u2018']\(?(\d+) == (\d+)\)?[\u2019']")
_CROSSING = re.compile(r"check_parameter(?:\(\) \[with T = ([^;\]]+)|<(.+?)>)")
_GIVEN = "the C++ type given is"


def with_diagnosis(output: str) -> str:
    """The compiler's output with what can be said in plain words first, and without what only follows from that. As it is where
    there is nothing to say."""
    found: dict[str, None] = {}
    mistaken: set[str] = set()
    others: list[str] = []
    blocks = list(_blocks(output))
    asserted = dict.fromkeys(filter(None, map(_asserted, blocks)))
    for block in blocks:
        export = _export(block)
        if _asserted(block):
            others.append(block)
        elif text := _diagnosis(block, export):
            found[text] = None
            mistaken |= {export.where} if export else set()
        else:
            others.append(block)
    if not found and not asserted:
        return output
    left = [
        block
        for block in others
        if any(sign in block for sign in _SIGNS) and (_asserted(block) or not _follows(block, mistaken))
    ]
    lines = output.count("\n") - sum(block.count("\n") + 1 for block in left)
    note = f"({lines} lines of compiler output about the same mistake are left out; set {_ALL}=1 to keep them)"
    if not found:  # nothing follows from what an author asserts: all is kept
        left, note = [output], ""
    if os.environ.get(_ALL) == "1":
        left, note = [output], "What the compiler said:"
    return "\n\n".join(filter(None, [*asserted, *found, note, *left])) + "\n"


def lifted(output: str) -> str:
    """A build's output with the diagnoses, which the compilers' runs printed somewhere in it, at its head."""
    found = re.findall(rf"^{_HEAD}.*(?:\n(?=.).*)*", output, re.MULTILINE)
    found = [text for text in dict.fromkeys(found) if ": " in text.removeprefix(_HEAD)]
    for text in found:
        output = output.replace(text + "\n", "")
    return "\n\n".join([*found, output]) if found else with_diagnosis(output)


def diagnose(output: str) -> Iterator[str]:
    """One text for each mistake, in the order of the output."""
    for block in _blocks(output):
        if text := _diagnosis(block, _export(block)):
            yield text


def _diagnosis(block: str, export: _Export | None) -> str:
    if reason := _REASON.search(block):
        return _contract(export, reason[1], int(reason[2]))
    if spelled := _spelling(block):
        return _HEAD + spelled
    if assertion := _ASSERTION.search(block):
        return "" if _SAYS_NOTHING.search(assertion[1]) else _misfit(block, export, assertion[1])
    for pattern, text in _COMMON:
        if found := pattern.search(block):
            return _HEAD + _where(block) + text.format(*(_plain(part or "") for part in found.groups()))
    return ""


def _asserted(block: str) -> str:
    """The text of a static_assert that isn't one of the SDK's about contracts: its author's own words, which go before ours."""
    assertion = _ASSERTION.search(block)
    if assertion is None or _OURS.match(assertion[1]) or _SAYS_NOTHING.search(assertion[1]):
        return ""
    line = block[block.rfind("\n", 0, assertion.start()) + 1 : assertion.end()]
    return f"{_HEAD}{_where(line) or _where(block)}{assertion[1]}"


# KP_EXPORT lines that the preprocessor takes apart otherwise than meant.
_SPELLINGS = [
    (re.compile(p), text)
    for p, text in (
        (
            r"KP_EXPORT\(\s*\w+\s*,\s*\w+\s+\"",
            "a ',' is missing before the contract: KP_EXPORT(op, Function, \"(x: ...\")",
        ),
        (
            r"KP_EXPORT\(\s*\w+\s*,\s*\w+\s*,\s*\(",
            'write the contract as a string, in quotes: KP_EXPORT(op, Function, "(x: ...")',
        ),
        (r"KP_EXPORT\(\s*\"\w+\"", 'write the name without quotes: KP_EXPORT(op, Function, "(x: ...")'),
        (
            r".*[{;]\s*KP_EXPORT\w*\(|\s+KP_EXPORT\w*\(",
            "write KP_EXPORT outside functions and classes, on a line of its own",
        ),
    )
]


def _spelling(block: str) -> str:
    """What is wrong with the author's KP_EXPORT line itself."""
    for place in _PLACE.finditer(block):
        for line in _lines(place["file"])[int(place["line"]) - 1 : int(place["line"])]:
            for pattern, text in _SPELLINGS:
                if pattern.match(line):
                    return f"{place['file']}:{place['line']}: {text}"
    return ""


def _where(block: str) -> str:
    """The author's line that a block is about: that of the error itself; where the error is in a header, the first one named."""
    errors = "\n".join(line for line in block.splitlines() if any(sign in line for sign in _SIGNS))
    places = [
        place
        for text in (errors, block)
        for place in _PLACE.finditer(text)
        if "/include/kernpack/" not in place["file"]
    ]
    return f"{places[0]['file']}:{places[0]['line']}: " if places else ""


def _follows(block: str, mistaken: set[str]) -> bool:
    """Whether an error is about an export that is wrong anyway."""
    export = _export(block)
    return export is not None and export.where in mistaken


_SIGNS = (": error: ", ": fatal error: ", "undefined reference to ", "multiple definition of ")


def _blocks(output: str) -> Iterator[str]:
    """The lines of one error each, with the "In instantiation of" before it and the notes behind it."""
    lines: list[str] = []
    has_error = False
    for line in output.splitlines():
        starts = "In instantiation of" in line or "In file included from" in line
        is_error = any(sign in line for sign in _SIGNS)
        if has_error and (starts or is_error):
            yield "\n".join(lines)
            lines, has_error = [], False
        lines.append(line)
        has_error = has_error or is_error
    if has_error:
        yield "\n".join(lines)


def _contract(export: _Export | None, reason: str, position: int) -> str:
    sentence = _sentences().get(reason, reason)
    if export is None:
        return f"{_HEAD}a contract doesn't parse at byte {position}: {sentence}"
    head = f"{export.where}: the contract of '{export.name}' doesn't parse: {sentence}"
    if export.text is None:
        return f"{_HEAD}{head} (at byte {position} of the text with its macros replaced)"
    head += _near(export.text, reason, position)
    return f"{_HEAD}{head}\n  {export.text}\n  {' ' * _column(export.text, position)}^"


_LIST = "SOURCES of kernpack_add_module(), or the list that kernpack.load was given"
# Messages of compilers and linkers that say what, but not what to do.
_COMMON = [
    (re.compile(p), text)
    for p, text in (
        (
            r"undefined reference to [`']([^\n]+)'",
            "'{0}' is declared, but nothing that was linked defines it; add the file that does to "
            + _LIST
            + ", or its "
            "library to LIBRARIES (extra_ldflags)",
        ),
        (
            r"multiple definition of [`'][^\n]*\b(?:kp_module_v1|kp_module_name|KpModule)\w*[^\n]*'",
            "KP_MODULE appears in two sources of one module; keep one",
        ),
        (r"redefinition of [^\n]*kp_module_table", "KP_MODULE appears twice in this file; keep one"),
        (
            r"expected [\u2018'];[\u2019'] before [\u2018']namespace[\u2019']",
            "expected ';' after the macro on the line above (KP_MODULE, KP_EXPORT, KP_GRAD and KP_DOC end in one)",
        ),
        (
            r"error: [\u2018']?(\w+)[\u2019']? was not declared in this scope[^\0]*KP_MODULE",
            'KP_MODULE takes two strings: KP_MODULE("{0}", "1.0.0");',
        ),
        (
            r"redefinition of [\u2018'][^\n]*\b__tvm_ffi_(\w+?)(?:\([^\n]*)?[\u2019']",
            "'{0}' is exported twice; keep one KP_EXPORT({0}, ...), or use KP_EXPORT_FOR for another target's code",
        ),
        (
            r"[\w.]+:\d+:\d+: error: [\u2018']?(?:torch|at)[\u2019']? (?:has not been|was not) declared",
            "use kp::TensorView (inputs) and kp::MutTensorView (outputs); Kernpack converts torch tensors for you",
        ),
        (
            r"error: macro \"(KP_CHECK)\" (?:requires|passed) [^\n]*arguments",
            '{0} takes a condition and a kind, the text follows: {0}(n > 0, ValueError) << "n is " << n;',
        ),
        (
            r"error: macro \"KP_(GRAD|JVP)\" requires [^\n]*arguments",
            "KP_{0} takes two exported names: KP_{0}(op, op_backward);",
        ),
        (
            r"module\.h:\d+:\d+: error: expected class-name before[^\0]*\bKP_MODULE",
            'KP_MODULE takes two strings, name and version: KP_MODULE("my_kernels", "1.0.0");',
        ),
        (
            r"error: [^\n]*cannot resolve address of overloaded function",
            "the C++ function is a template or has overloads; write one function for KP_EXPORT that calls the right one",
        ),
        (
            r"error: (?:lambda-expression|lvalue required as unary)[^\0]*KP_EXPORT",
            "KP_EXPORT takes the name of a function outside any class; write a function that calls the one you mean",
        ),
        (
            r"error: cannot bind non-const lvalue reference of type [\u2018'][^\n]*?(\w*TensorView|StringView)&",
            "kernels take their parameters by value: kp::{0} without &",
        ),
        (
            r"has no member named [\u2018'](data|ptr|dptr|data_as|mutable_data)[\u2019'][^\0]*",
            "tensors have no {0}(); their memory is x.data_ptr<float>()",
        ),
        (
            r"error: invalid types [^\n]*unresolved overloaded function type>\[\w+\][^\n]*array subscript",
            "member functions of tensors are called with parentheses: x.size(0), x.shape()[0]",
        ),
        (
            r"no matching function for call to [\u2018'][^\n]*TensorView::size\(\)",
            "x.size() needs the number of a dim, as in x.size(0); all elements are x.numel()",
        ),
        (
            r"error: assignment of read-only location [^\n]*(?:TensorView|data_ptr|Span<|Accessor<)|"
            r"error: cannot assign to return value because function [^\n]*returns a const value[^\0]*(?:span|accessor)\.h",
            "an input is read only: write to a result, or mark it written: `name!: ...` in the contract and kp::MutTensorView in "
            "C++",
        ),
        (
            r"fatal error: [\u2018']?(kernpack/[\w/.]+)[\u2019']?(?:: No such file| file not found)",
            "the header {0} isn't found; add $(kernpack config --includes), or link kernpack::headers in CMake",
        ),
        (
            r"fatal error: [\u2018']?([\w/.+-]+)[\u2019']?(?:: No such file| file not found)",
            "the header {0} isn't found; add its folder: INCLUDE_DIRECTORIES of kernpack_add_module(), or include_paths of "
            "kernpack.load",
        ),
        (
            r"error: [\u2018']?kp[\u2019']? has not been declared|use of undeclared identifier 'kp'",
            "kp:: is short for kernpack::; add below the includes: namespace kp = kernpack;",
        ),
        (
            r"error: [\u2018']?(\w+)[\u2019']? was not declared in this scope[^\n]*\n[^\n]*KP_EXPORT",
            "KP_EXPORT names the C++ function '{0}', which isn't declared above that line",
        ),
        (
            r"no matching function for call to [\u2018'][^\n]*\b(Span|Accessor)<(\w+)[^\n>]*>::\w+\([^\n]*\bTensorView&?\)|"
            r"no matching constructor for initialization of '[^\n]*?\b(Span|Accessor)<(\w+)[^\0]*?no known conversion from "
            r"'[\w:]*\bTensorView' to 'View'",
            "an input is read only: view it as kp::{0}{2}<const {1}{3}>, or mark it written: `name!: ...` in the contract and "
            "kp::MutTensorView in C++",
        ),
        (
            r"invalid conversion from [^\n]*[\u2018']const (\w+)\*[\u2019'][^\n]*to [\u2018'](?:\w+)\*|"
            r"cannot initialize a variable of type '\w+ \*' with an rvalue of type 'const (\w+) \*'",
            "an input is read only: hold its pointer as const {0}{1}*, or mark it written: `name!: ...` in the contract and "
            "kp::MutTensorView in C++",
        ),
    )
]


def _column(text: str, position: int) -> int:
    return len(text.encode("utf-8")[:position].decode("utf-8", "replace"))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant. The runtime, which can't need the SDK, has its own in `kernpack/_suggest.py`."""
    import difflib  # on the way to an error alone

    return next(iter(difflib.get_close_matches(name, known, 1)), None)


def _near(text: str, reason: str, position: int) -> str:
    """What was probably meant."""
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


# Of a reason, what stands before the place and from it on: what was probably meant.
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
        ("kExpectedColon", r"->.*", r"!", "results take no '!': a kernel always writes them"),
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


def _misfit(block: str, export: _Export | None, said: str) -> str:
    said = said.removeprefix("KP_EXPORT: ")
    where = f"{export.where}: '{export.name}': " if export else _where(block)
    if parameter := _PARAMETER.search(block):
        index, given = int(parameter[1]), _plain(parameter[4])
        name = export.parameter(index) if export else ""
        number = f"C++ parameter {index + 1}{f' ({name})' if name else ''}"
        return f"{_HEAD}{where}{number}: {said.removeprefix('this C++ parameter ')}; {_GIVEN} {given}"
    if result := _RESULT.search(block):
        return f"{_HEAD}{where}C++ parameter {int(result[1]) + 1}: {said}; {_GIVEN} {_plain(result[2])}"
    if crossing := _CROSSING.search(block):
        return f"{_HEAD}{where}{said}; {_GIVEN} {_plain(crossing[1] or crossing[2])}"
    if numbered := re.match(r"C\+\+ parameter (\d+) ", said):
        name = export.parameter(int(numbered[1]) - 1) if export else ""
        return f"{_HEAD}{where}{numbered[0]}{f'({name}) ' if name else ''}{said[numbered.end() :]}"
    if "must have one parameter for each" in said and (count := _COUNT.search(block)):
        has, wants = count.groups()
        return f"{_HEAD}{where}the C++ function has {has} parameters, the contract needs {wants}: {said}"
    return f"{_HEAD}{where}{said}"


def _plain(cxx: str) -> str:
    """A C++ type as its author wrote it."""
    return re.sub(r"kernpack::v\d+::", "kp::", cxx).replace("std::basic_string<char>", "std::string").strip()


class _Export:
    """A KP_EXPORT line in the author's source. text: None where it holds a macro that the source doesn't define."""

    def __init__(self, file: str, line: int, name: str, text: str | None) -> None:
        self.where, self.name, self.text = f"{file}:{line}", name, text

    def parameter(self, index: int) -> str:
        """The name of the contract's parameter or result that stands at this place of the C++ function."""
        names = re.findall(
            r"(?:^|[(,*])\s*(\w+)!?\s*:", re.sub(r"\[[^\]]*\]|\{[^}]*\}|\"[^\"]*\"", "", self.text or "")
        )
        return names[index] if index < len(names) else ""


def _export(block: str) -> _Export | None:
    """The first line of the author's that the block names and that begins an export."""
    for place in _PLACE.finditer(block):
        if found := _read_export(place["file"], int(place["line"])):
            return found
    return None


_STRING = r'"(?:[^"\\]|\\.)*"'
_TEXT = rf"(?:[A-Z_]\w*\s+)*{_STRING}(?:\s*(?:{_STRING}|[A-Za-z_]\w*))*|(?<=[,\s])[A-Z_][A-Z0-9_]+"
_EXPORT = re.compile(rf'\s*KP_EXPORT\w*\s*\(\s*(?:"[^"]*"\s*,\s*|KP_TARGET\s*,\s*)?(\w+)\s*,\s*[^";]*?({_TEXT})\s*\)')
_sources: dict[str, list[str]] = {}  # texts that lie in no file of that name: load_inline's


def add_source(name: str, text: str) -> None:
    """The text of a source that a `#line` gives a name which isn't a file's."""
    _sources[name] = text.splitlines()


def _lines(file: str) -> list[str]:
    """Of an author's source; none of the SDK's, or of what can't be read."""
    if "/include/kernpack/" in file:
        return []
    try:
        return _sources.get(file) or Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _read_export(file: str, line: int) -> _Export | None:
    lines = _lines(file)
    for first in (line, line - 1, line - 2, line - 3):  # a macro over several lines is named by one of them
        if 0 < first <= len(lines):
            found = _EXPORT.match("\n".join(lines[first - 1 : first + 12]))
            if found and first + found[0].count("\n") >= line:
                return _Export(file, first, found[1], _literal(_replaced(found[2], lines)))
    return None


def _replaced(text: str, lines: list[str], depth: int = 0) -> str | None:
    """String literals and macros with the macros' values in place of them; None where the source doesn't define one."""
    source = "\n".join(lines).replace("\\\n", " ")
    whole: list[str] = []
    for part in re.findall(rf"{_STRING}|\w+", text):
        if not part.startswith('"'):
            value = re.search(
                rf"^[ \t]*#[ \t]*define[ \t]+{part}[ \t]+((?:{_STRING}|\w+|[ \t]+)+)", source, re.MULTILINE
            )
            part = _replaced(value[1], lines, depth + 1) if value and depth < 8 else None
        if part is None:
            return None
        whole.append(part)
    return " ".join(whole)


def _literal(text: str | None) -> str | None:
    """Adjacent C string literals as one text."""
    if text is None:
        return None
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"', text)
    try:
        return "".join(ast.literal_eval(f'"{part}"') for part in parts)
    except (ValueError, SyntaxError):
        return "".join(parts)


@functools.cache
def _header(name: str) -> str:
    here = Path(__file__).resolve().parent
    for folder in (here / "include", here.parents[3] / "ffi" / "include"):
        if (file := folder / "kernpack" / name).is_file():
            return file.read_text(encoding="utf-8")
    return ""


@functools.cache
def _sentences() -> dict[str, str]:
    """Of each reason the sentence that stands beside it in the header."""
    row = rf"^\s*X\((k\w+),((?:[\s\\]*{_STRING})+)\)"
    rows = re.findall(row, _header("signature/reason.h"), re.MULTILINE)
    return {name: _literal(text) or "" for name, text in rows}


@functools.cache
def _dtypes() -> dict[str, str]:
    """The names of contracts by those of frameworks: "float32": "f32"."""
    rows = re.findall(r'^\s*X\(\w+, "(\w+)", "(\w+)"', _header("dtype_table.h"), re.MULTILINE)
    return {word: name for name, word in rows}


def main(command: list[str]) -> int:
    """Runs a compiler; where it fails, says first what can be said of it."""
    done = subprocess.run(command, capture_output=True, check=False)
    sys.stdout.buffer.write(done.stdout)
    text = done.stderr
    if done.returncode != 0:
        text = with_diagnosis(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(text)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
