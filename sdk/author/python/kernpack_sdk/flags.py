"""The flags a kernel module is compiled and linked with, read from the file that CMake reads: kernpack_flags.cmake."""

import functools
import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

from kernpack_sdk import cmake_dir, include_dir

_SET = re.compile(r"^set\((\w+)\s+(.*?)\)$", re.MULTILINE | re.DOTALL)


@functools.cache
def _variables() -> dict[str, list[str]]:
    folder = str(cmake_dir())
    text = (cmake_dir() / "kernpack_flags.cmake").read_text(encoding="utf-8")
    text = re.sub(r"#.*", "", text)
    return {name: [_here(word, folder) for word in shlex.split(value)] for name, value in _SET.findall(text)}


def _here(word: str, folder: str) -> str:
    return word.replace("${CMAKE_CURRENT_LIST_DIR}", folder).replace("${KERNPACK_CMAKE_DIR}", folder)


def compile_flags(language: str = "c++", *, gnu: bool = True) -> list[str]:
    """Compiler options for a module's sources; `language` is "c" or "c++", `gnu` whether the compiler is GCC."""
    v = _variables()
    flags = [f"-I{include_dir()}", *prefix_maps([include_dir()], gnu=gnu)]
    if os.name == "nt":
        flags += v["KERNPACK_WINDOWS_COMPILE_FLAGS"]
        return [*flags, "-std=c++17", *v["KERNPACK_CXX_COMPILE_FLAGS"]] if language == "c++" else flags
    flags += [*v["KERNPACK_COMPILE_FLAGS"], *shlex.split(v["KERNPACK_GLIBC_COMPAT_FLAGS"][0])]
    if language == "c++":
        flags += ["-std=c++17", *v["KERNPACK_CXX_COMPILE_FLAGS"]]
        flags += v["KERNPACK_GNU_COMPILE_FLAGS"] if gnu else []
    return flags


def prefix_maps(folders: Iterable[str | Path], *, gnu: bool = True) -> list[str]:
    """Compiler options that keep the paths of these folders out of modules: files in them are named from there on."""
    (flag,) = _variables()["KERNPACK_PREFIX_MAP_FLAG"]
    texts = [os.fspath(folder) for folder in folders]
    # clang takes the option apart at its first "=", GCC at the last one.
    return [flag.replace("@FOLDER@", text.rstrip("/")) for text in texts if gnu or "=" not in text]


def link_flags(*, compiles: bool = False) -> list[str]:
    """Options for linking a module's objects into a shared object. `compiles`: the command compiles sources too, whose own -O stays;
    -Ofast isn't for such a command (`kernpack check` says what it would do)."""
    v = _variables()
    level = [] if compiles else v["KERNPACK_LINK_ONLY_FLAGS"]
    if os.name == "nt":
        return ["-shared", *level, *v["KERNPACK_WINDOWS_LINK_FLAGS"]]
    return ["-shared", *level, *v["KERNPACK_LINK_FLAGS"], *v["KERNPACK_VERSION_SCRIPT_FLAGS"]]


def support_definition() -> str:
    """The compiler option for a module's sources that are linked with the support library."""
    return f"-D{_variables()['KERNPACK_SUPPORT_DEFINITION'][0]}"


def support_flags(part: str, *, gnu: bool = True) -> list[str]:
    """Compiler options for one source of the support library, by its name without .cc."""
    v = _variables()
    return [*compile_flags(gnu=gnu), *v["KERNPACK_SUPPORT_FLAGS"], *v.get(f"KERNPACK_SUPPORT_{part.upper()}_FLAGS", [])]
