"""load_inline: C++ or CUDA source, compiled once and kept."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal

from kernpack._load import load
from kernpack._module import Module

if TYPE_CHECKING:
    from kernpack_sdk.cache import Compiler

_PREAMBLE = "#include <kernpack/kernel.h>\nnamespace kp = kernpack;\n"


def cache_dir() -> Path:
    """Where compiled modules are kept: KERNPACK_CACHE_DIR, else ~/.cache/kernpack."""
    named = os.environ.get("KERNPACK_CACHE_DIR")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kernpack"


def load_inline(
    source: str,
    functions: Mapping[str, str | None] | Iterable[str] | None = None,
    *,
    name: str | None = None,
    language: Literal["c++", "cuda"] = "c++",
    extra_flags: Sequence[str] = (),
    extra_link_flags: Sequence[str] = (),
    verbose: bool = False,
) -> Module:
    """Compiles source text into a module and loads it. Needs kernpack-sdk and a compiler (CXX, else g++; nvcc for CUDA).

    functions: C++ functions of the source to export, with their signatures (None: untyped); or just their names. Leave it
        out when the source has its own KP_MODULE and KP_EXPORT lines.
    name: the module's name when the source does not say.

    The result is kept in `cache_dir()` until the source, a header, the compiler, a flag, the processor or anything else that
    it was made of changes; two processes may do this at once.
    Raises RuntimeError with the compiler's output when it does not compile.
    """
    _check_arguments(source, functions, language)
    sdk = _sdk()
    text = _complete(source, functions, name)
    compiler = _compiler(language)
    compile_flags, link_flags = _flags(sdk, compiler, language, extra_flags, extra_link_flags)
    try:
        path = _compiled(sdk, text, sdk.cache.Compiler(compiler), compile_flags, link_flags, language, verbose)
    except subprocess.CalledProcessError as error:
        raise RuntimeError(
            f"load_inline: {compiler[0]} failed ({error.returncode}):\n{error.stderr or error.stdout}"
        ) from error
    return load(path)


def _compiled(
    sdk: ModuleType,
    text: str,
    compiler: Compiler,
    compile_flags: list[str],
    link_flags: list[str],
    language: str,
    verbose: bool,
) -> Path:
    definitions, objects = _support(compiler) if language == "c++" else ([], [])
    request = sdk.cache.Request(
        text=text,
        compiler=compiler,
        compile_flags=[*compile_flags, *definitions],
        link_flags=link_flags,
        objects=objects,
        suffix=".cu" if language == "cuda" else ".cc",
    )
    path: Path = sdk.cache.compiled(request, cache_dir() / "inline", _module_name(text), verbose=verbose)
    return path


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
        raise ValueError(
            "load_inline: nothing is exported; name functions of the source in functions=, or use KP_EXPORT"
        )


def _sdk() -> ModuleType:
    try:
        import kernpack_sdk
        import kernpack_sdk.cache
        import kernpack_sdk.flags
    except ImportError as error:
        raise ImportError("load_inline needs the headers: pip install kernpack-sdk") from error
    return kernpack_sdk


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
    return f'{head}#line 1 "inline.cc"\n{source}{tail}'


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


def _compiler(language: str) -> list[str]:
    wanted = os.environ.get("NVCC", "nvcc") if language == "cuda" else os.environ.get("CXX", "g++")
    command = wanted.split()
    if not command or shutil.which(command[0]) is None:
        variable = "NVCC" if language == "cuda" else "CXX"
        raise RuntimeError(f"load_inline: no compiler '{wanted}' on the PATH; install one or set {variable}")
    return command


def _flags(
    sdk: ModuleType, compiler: list[str], language: str, extra: Sequence[str], extra_link: Sequence[str]
) -> tuple[list[str], list[str]]:
    compile_flags = [*sdk.flags.compile_flags("c++", gnu=_is_gnu(compiler)), "-O2"]
    link_flags = list(sdk.flags.link_flags())
    if language == "cuda":
        compile_flags, link_flags = _for_nvcc(compile_flags), _for_nvcc(link_flags)
    return [*compile_flags, *extra], [*link_flags, *extra_link]


def _for_nvcc(flags: list[str]) -> list[str]:
    """nvcc knows -I, -std, -O, -include and -shared; the rest goes to the host compiler, commas and all."""
    result: list[str] = []
    for before, flag in zip(["", *flags], flags, strict=False):
        if flag.startswith(("-I", "-std=", "-O2", "-include", "-shared")) or before == "-include":
            result.append(flag)
        elif flag.startswith("-Wl,"):
            result += ["-Xlinker", flag.removeprefix("-Wl,")]
        else:
            result += ["-Xcompiler", flag]
    return result


def _support(compiler: Compiler) -> tuple[list[str], list[Path]]:
    """The option and the objects that spare each source the code behind the aliases; compiled by the first call."""
    from kernpack_sdk import flags, support

    objects = support.objects(cache_dir() / "support", compiler, gnu=_is_gnu(list(compiler.words)))
    return [flags.support_definition()], objects


def _is_gnu(compiler: list[str]) -> bool:
    return "clang" not in Path(compiler[-1]).name
