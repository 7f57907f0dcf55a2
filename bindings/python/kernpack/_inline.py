"""load_inline: C++ or CUDA source, compiled once and kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from kernpack import _compile
from kernpack._compile import cache_dir
from kernpack._load import load
from kernpack._module import Module
from kernpack._suggest import did_you_mean

__all__ = ["cache_dir", "load_inline"]
_PREAMBLE = "#include <kernpack/kernel.h>\nnamespace kp = kernpack;\n"
_LINE = '#line 1 "inline.cc"\n'


def load_inline(
    source: str,
    functions: Mapping[str, str | None] | Iterable[str] | None = None,
    *,
    name: str | None = None,
    language: Literal["c++", "cuda"] = "c++",
    extra_flags: Sequence[str] = (),
    extra_link_flags: Sequence[str] = (),
    verbose: bool = False,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    include_paths: Sequence[Any] | None = None,
    extra_include_paths: Sequence[Any] | None = None,
    build_directory: Any = None,
    with_cuda: bool | None = None,
) -> Module:
    """Compiles source text into a module and loads it. Needs kernpack-sdk and a compiler (CXX, else g++; nvcc for CUDA).

    functions: C++ functions of the source to export, with their signatures (None: untyped); or just their names. Omit it
        if the source has its own KP_MODULE and KP_EXPORT lines.
    name: the module's name, if the source has no KP_MODULE line.
    extra_flags, extra_link_flags: for the compiler of that language, and for linking. Those of torch.utils.cpp_extension are
        understood as well: extra_cflags (C++), extra_cuda_cflags (nvcc), extra_ldflags, extra_include_paths, with_cuda,
        build_directory (where the result is kept, in place of the cache).

    The result is kept in `cache_dir()` until the source, a header, the compiler, a flag, the processor or another input
    changes; two processes may do this at once.
    Raises RuntimeError if it does not compile: with the error of a contract, its position marked, then the compiler's output.
    """
    _check_arguments(source, functions, language)
    if with_cuda:
        language = "cuda"
    made = _compile.options(
        "load_inline",
        build_directory=build_directory,
        verbose=verbose,
        extra_cflags=extra_cflags,
        extra_cuda_cflags=extra_cuda_cflags,
        extra_ldflags=extra_ldflags,
        include_paths=include_paths,
        extra_include_paths=extra_include_paths,
        extra_flags=extra_flags,
        extra_link_flags=extra_link_flags,
    )
    text = _complete(source, functions, name)
    made.sources["inline.cc"] = text.partition(_LINE)[2]
    return load(_compile.module(text, language, _module_name(text), made))


def _check_arguments(source: object, functions: object, language: str) -> None:
    if not isinstance(source, str):
        raise TypeError(f"load_inline: source: expected str, got {type(source).__name__}")
    if isinstance(functions, (str, bytes)) or not isinstance(functions, (Mapping, Iterable, type(None))):
        raise TypeError(
            f"load_inline: functions: expected names, or a dict of names and signatures, got {type(functions).__name__} "
            f"{str(functions)[:80]!r}"
        )
    if language not in ("c++", "cuda"):
        raise ValueError(f"load_inline: language: expected 'c++' or 'cuda', got {language!r}")
    if not functions and "KP_EXPORT" not in source:
        advice = _misspelt_export(source) or "; name functions of the source in functions=, or use KP_EXPORT"
        raise ValueError(f"load_inline: nothing is exported{advice}")


def _misspelt_export(source: str) -> str:
    """ ": line 3 has KP_EXPRT; did you mean 'KP_EXPORT'?", or ""."""
    for number, line in enumerate(source.splitlines(), 1):
        found = re.match(r"\s*(\w*export\w*|kp\w+)\s*\(", line, re.IGNORECASE)
        if found and (meant := did_you_mean(found[1].upper(), ("KP_EXPORT", "KP_EXPORT_FOR"))):
            return f": line {number} has {found[1]}{meant}"
    return ""


def _complete(source: str, functions: Mapping[str, str | None] | Iterable[str] | None, name: str | None) -> str:
    """The source with the lines that its author left out."""
    head = "" if "kernpack/kernel.h" in source else _PREAMBLE
    tail = ""
    if not re.search(r"^\s*KP_MODULE\s*\(", source, re.MULTILINE):
        tail += f'\nKP_MODULE("{_checked_name(name or "inline_module")}", "0");\n'
    elif name is not None:
        raise ValueError("load_inline: the source has its own KP_MODULE line; leave out name=")
    exports = functions.items() if isinstance(functions, Mapping) else [(f, None) for f in functions or ()]
    for function, signature in exports:
        if not isinstance(function, str) or not re.fullmatch(r"[a-z_][a-z0-9_]*", function):
            raise ValueError(f"load_inline: functions: expected a name of [a-z_][a-z0-9_]*, got {function!r}")
        contract = "" if signature is None else f", {_literal(signature)}"
        tail += f"KP_EXPORT({function}, {function}{contract});\n"
    return f"{head}{_LINE}{source}{tail}"


def _checked_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", name):
        raise ValueError(f"load_inline: name: expected [A-Za-z_][A-Za-z0-9_.]*, got {name!r}")
    return name


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


def _module_name(text: str) -> str:
    found = re.search(r'^\s*KP_MODULE\s*\(\s*"([^"]*)"', text, re.MULTILINE)
    return _checked_name(found[1]) if found else "inline_module"
