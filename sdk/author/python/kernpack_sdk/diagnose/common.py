"""Messages of compilers and linkers that say what, but not what to do."""

from __future__ import annotations

import re

from .blocks import HEAD, places, where
from .contract import plain
from .sources import read_lines

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
        (
            r"KP_EXPORT\(\s*\w+\s*,\s*\"",
            'name the C++ function before the contract: KP_EXPORT(op, Function, "(x: ...")',
        ),
        (r"KP_EXPORT\(\s*\"\w+\"", 'write the name without quotes: KP_EXPORT(op, Function, "(x: ...")'),
        (
            r".*[{;]\s*KP_EXPORT\w*\(|\s+KP_EXPORT\w*\(",
            "write KP_EXPORT outside functions and classes, on a line of its own",
        ),
    )
]


def spelling(block: str) -> str:
    """The fault of the author's KP_EXPORT line itself."""
    for place in places(block):
        lines = read_lines(place.file)
        if lines[place.line - 2 : place.line - 1] and lines[place.line - 2].endswith(
            "\\"
        ):  # of a macro of the author's
            continue
        for line in lines[place.line - 1 : place.line]:
            for pattern, text in _SPELLINGS:
                if pattern.match(line):
                    return f"{HEAD}{place.file}:{place.line}: {text}"
    return ""


def said(block: str) -> str:
    """The text of the first row below that matches a block; "" if none does."""
    for pattern, text in _COMMON:
        if found := pattern.search(block):
            return HEAD + where(block) + text.format(*(plain(part or "") for part in found.groups()))
    return ""


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
