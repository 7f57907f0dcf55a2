"""Code that load_inline and load share: compilers, options and the SDK's cache of compiled modules."""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import logging
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PureWindowsPath
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kernpack import _core, _emulated
from kernpack._program import split_command
from kernpack._system import SUFFIX, WINDOWS, cache_home

if TYPE_CHECKING:
    from kernpack_sdk.cache import Compiler

_CANNOT_WRITE = {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT, errno.ENOENT}
_VARIABLES = {"c++": ("CXX", "g++"), "c": ("CC", "gcc"), "cuda": ("NVCC", "nvcc")}
_SUFFIXES = {"c++": ".cc", "c": ".c", "cuda": ".cu"}


def cache_dir() -> Path:
    """Where compiled modules are kept: KERNPACK_CACHE_DIR, else kernpack in the folder of caches."""
    named = os.environ.get("KERNPACK_CACHE_DIR")
    if named:
        return Path(named)
    return cache_home() / "kernpack"


@dataclass(frozen=True)
class Options:
    """How sources are compiled. `who` is the function that errors name."""

    who: str
    cflags: tuple[str, ...] = ()
    cuda_cflags: tuple[str, ...] = ()
    ldflags: tuple[str, ...] = ()
    include_paths: tuple[str, ...] = ()
    build_directory: Path | None = None
    verbose: bool = False
    sources: dict[str, str] = field(default_factory=dict)  # texts that a #line names, for diagnoses
    source_folders: tuple[str, ...] = ()  # errors name sources from there on

    def folder(self) -> Path:
        return self.build_directory or cache_dir() / "inline"


def options(who: str, *, build_directory: object = None, verbose: object = False, **lists: Any) -> Options:
    """Checked: a string where a list is expected would be taken apart into letters. `include_paths`: relative to this folder."""
    read = {name: _words(who, name, value) for name, value in lists.items()}
    if not isinstance(build_directory, (str, os.PathLike, type(None))):
        raise TypeError(f"{who}: build_directory: expected a path, got {type(build_directory).__name__}")
    return Options(
        who,
        (*read.get("extra_flags", ()), *read["extra_cflags"]),
        (*read.get("extra_flags", ()), *read["extra_cuda_cflags"]),
        (*read.get("extra_link_flags", ()), *read["extra_ldflags"]),
        tuple(os.path.abspath(path) for path in (*read["include_paths"], *read["extra_include_paths"])),
        None if build_directory is None else Path(build_directory).absolute(),
        bool(verbose),
    )


def _words(who: str, name: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    paths = name.endswith("include_paths")
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        example = '["include"]' if paths else '["-O3", "-g"]'
        raise TypeError(
            f"{who}: {name}: expected a list of strings, as in {example}, got {type(value).__name__} {value!r}"
        )
    items = list(value)
    for item in items:
        if not isinstance(item, (str, os.PathLike) if paths else str):
            raise TypeError(f"{who}: {name}: expected a list of strings, got {type(item).__name__} in it")
    return tuple(os.fspath(item) for item in items)


def sdk(who: str) -> ModuleType:
    try:
        import kernpack_sdk
        import kernpack_sdk.cache
        import kernpack_sdk.diagnose
        import kernpack_sdk.flags
    except ImportError as error:
        raise ImportError(f"{who} needs the headers: pip install kernpack-sdk") from error
    _log_to_host()
    return kernpack_sdk


@cache
def _log_to_host() -> None:
    """KERNPACK_LOG=debug shows what the SDK's cache says of what it finds and compiles."""
    if os.environ.get("KERNPACK_LOG") != "debug":
        return

    class ToHost(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            # Paths need not be UTF-8.
            _core.log_debug(record.getMessage().encode("utf-8", "backslashreplace").decode())

    logger = logging.getLogger("kernpack_sdk.cache")
    logger.addHandler(ToHost())
    logger.setLevel(logging.DEBUG)


# Where the linker sees one of these it adds start-up code that changes the whole process, so compiling and linking are two commands.
_FAST_MATH = {"-Ofast", "-ffast-math", "-funsafe-math-optimizations"}


def module(text: str, language: str, name: str, made: Options) -> Path:
    """A shared object of one source's text."""
    package, compiler = sdk(made.who), _compiler(made.who, language)
    definitions, objects = _support(made, compiler) if language == "c++" else ([], [])
    flags = [*_compile(package, compiler, language, made), *definitions]
    if _FAST_MATH.isdisjoint(made.cflags):
        return _compiled(made, compiler, text, name, language, flags, _link(package, language, made, True), objects)
    part = _compiled(made, compiler, text, name, language, flags, None, [])
    link = _link(package, language, made, False)
    return _compiled(made, compiler, "", name, language, flags, link, [part, *objects])


def objects_and_link(sources: Sequence[Path], languages: Sequence[str], name: str, made: Options) -> Path:
    """A shared object of several sources, each compiled by its language's compiler, unless the cache has it."""
    package = sdk(made.who)
    cuda = "cuda" in languages
    definitions: list[str] = []
    parts: list[Path] = []
    if not cuda and "c++" in languages:
        definitions, parts = _support(made, _compiler(made.who, "c++"))
    compiled = []
    for source, language in zip(sources, languages, strict=True):
        compiler = _compiler(made.who, language)
        flags = [*_compile(package, compiler, language, made), *(definitions if language == "c++" else [])]
        compiled.append(_compiled(made, compiler, including(source), source.stem, language, flags, None, []))
    language = "cuda" if cuda else "c++" if "c++" in languages else "c"
    linker = _compiler(made.who, language)
    flags, link = _compile(package, linker, language, made), _link(package, language, made, False)
    return _compiled(made, linker, "", name, language, flags, link, [*compiled, *parts])


def including(source: Path) -> str:
    """The text that stands for a file: the compiler names the file itself in errors, and lists it with the headers that it read."""
    return f'#include "{source}"\n'


def _compiled(
    made: Options,
    compiler: Compiler,
    text: str,
    name: str,
    language: str,
    compile_flags: list[str],
    link_flags: list[str] | None,
    objects: list[Path],
) -> Path:
    package = sdk(made.who)
    request = package.cache.Request(
        text=text,
        compiler=compiler,
        compile_flags=compile_flags,
        link_flags=link_flags or (),
        objects=objects,
        kind=".o" if link_flags is None else SUFFIX,
        suffix=_SUFFIXES[language],
    )
    try:
        with _writing(made, made.folder()):
            path: Path = package.cache.compiled(request, made.folder(), name, verbose=made.verbose)
    except subprocess.CalledProcessError as error:
        for file, content in made.sources.items():
            package.diagnose.add_source(file, content)
        command = error.cmd
        said = package.diagnose.with_diagnosis(error.stderr or error.stdout or "", lambda: _preprocessed(command))
        raise RuntimeError(f"{made.who}: {compiler.words[0]} failed ({error.returncode}):\n{said}") from None
    return path


def _preprocessed(command: list[str]) -> str:
    from kernpack_sdk.diagnose.launcher import preprocessed

    return preprocessed(command)


@contextlib.contextmanager
def _writing(made: Options, folder: Path) -> Iterator[None]:
    """A cache that cannot be written is told with what to do about it."""
    try:
        yield
    except OSError as error:
        if error.errno not in _CANNOT_WRITE:
            raise
        raise OSError(
            error.errno,
            f"{made.who}: the cache folder {folder} cannot be written ({os.strerror(error.errno)}): free some space, or set "
            "KERNPACK_CACHE_DIR to a folder of yours",
        ) from None


def _compiler(who: str, language: str) -> Compiler:
    variable, default = _VARIABLES[language]
    wanted = os.environ.get(variable, default)
    if WINDOWS and variable not in os.environ:
        return _zig(who, language)
    words = split_command(wanted)
    if words is None:
        raise RuntimeError(f"{who}: no compiler '{wanted}' on the PATH; install one or set {variable}")
    if any(PureWindowsPath(word).stem.lower() in ("cl", "clang-cl") for word in words):
        raise RuntimeError(
            f"{who}: {variable} names '{wanted}', but compilers with the options of MSVC's cl aren't supported; set it to clang or zig "
            "(pip install ziglang)"
        )
    found: Compiler = sdk(who).cache.Compiler(words)
    return found


def _zig(who: str, language: str) -> Compiler:
    """The compiler on Windows, where programs need none of Windows' own: PyPI's ziglang."""
    if language == "cuda":
        raise NotImplementedError(f"{who}: CUDA code doesn't compile on Windows yet; use Linux")
    if importlib.util.find_spec("ziglang") is None:
        raise RuntimeError(f"{who}: no compiler; pip install ziglang, or set {_VARIABLES[language][0]} to clang or zig")
    found: Compiler = sdk(who).cache.Compiler(zig_words(language))
    return found


def zig_words(language: str) -> list[str]:
    return [sys.executable, "-m", "ziglang", "cc" if language == "c" else "c++", "-target", "x86_64-windows-gnu"]


def _compile(package: ModuleType, compiler: Compiler, language: str, made: Options) -> list[str]:
    gnu = compiler.is_gnu
    flags = [*package.flags.compile_flags("c" if language == "c" else "c++", gnu=gnu), "-O2"]
    flags += package.flags.prefix_maps((*made.include_paths, *made.source_folders), gnu=gnu)
    if os.environ.get("KERNPACK_CHECK", "0") not in ("", "0"):
        flags.append(
            "-DKP_CHECKED_AT=1"
        )  # the host cannot see indices; an author's -DKP_CHECKED_AT comes later and wins
    if language == "cuda":
        flags = [*_for_nvcc(flags), *made.cuda_cflags]
    else:
        flags += made.cflags
    return [*flags, *(f"-I{path}" for path in made.include_paths)]


def _link(package: ModuleType, language: str, made: Options, compiles: bool) -> list[str]:
    """`compiles`: the command compiles the source too, at the level that its author asks for."""
    flags = list(package.flags.link_flags(compiles=compiles))
    if language == "cuda":
        return [*_for_nvcc(flags), *made.ldflags, *_emulated.link_flags(made.who)]
    return [*flags, *made.ldflags]


def _for_nvcc(flags: list[str]) -> list[str]:
    """nvcc knows -D, -I, -std, -O, -include and -shared; the rest goes to the host compiler, commas and all."""
    result: list[str] = []
    for before, flag in zip(["", *flags], flags, strict=False):
        if flag.startswith(("-D", "-I", "-std=", "-O2", "-include", "-shared")) or before == "-include":
            result.append(flag)
        elif flag.startswith("-Wl,"):
            result += ["-Xlinker", flag.removeprefix("-Wl,")]
        elif not _UNSPEAKABLE.search(flag):
            # A list, taken apart at commas; then words of a shell's command.
            result += ["-Xcompiler", shlex.quote(flag.replace(",", "\\,"))]
    return result


_UNSPEAKABLE = re.compile(r"[\"$`\\]")  # nvcc doesn't compile anything in folders with such names


def _support(made: Options, compiler: Compiler) -> tuple[list[str], list[Path]]:
    """The option and the objects that spare each source the code behind the aliases; compiled by the first call."""
    from kernpack_sdk import flags, support

    with _writing(made, cache_dir() / "support"):
        objects = support.objects(cache_dir() / "support", compiler, gnu=compiler.is_gnu)
    return [flags.support_definition()], objects
