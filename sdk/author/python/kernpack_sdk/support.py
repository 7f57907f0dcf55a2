"""The support library that a module's aliases are answered by, compiled where CMake does not do it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kernpack_sdk import cmake_dir, flags
from kernpack_sdk.cache import Compiler, Request, compiled


def objects(folder: Path, compiler: Sequence[str] | Compiler = ("g++",), *, gnu: bool = True) -> list[Path]:
    """The library's objects in `folder`, compiled unless they are there already.

    Link them after the module's own objects, which are compiled with flags.support_definition(). Two processes may do this
    at once. Raises subprocess.CalledProcessError, its `stderr` the compiler's output.
    """
    asked = compiler if isinstance(compiler, Compiler) else Compiler(compiler)
    return [compiled(_request(source, asked, gnu), folder, source.stem) for source in _sources()]


def _sources() -> list[Path]:
    return sorted((cmake_dir() / "support").glob("*.cc"))


def _request(source: Path, compiler: Compiler, gnu: bool) -> Request:
    return Request(
        text=f'#line 1 "{source.name}"\n' + source.read_text(encoding="utf-8"),
        compiler=compiler,
        compile_flags=flags.support_flags(source.stem, gnu=gnu),
        kind=".o",
    )
