"""The support library that a module's aliases are answered by, compiled where CMake does not do it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernpack_sdk import cmake_dir, flags, include_dir


def objects(folder: Path, compiler: Sequence[str] = ("g++",), *, gnu: bool = True) -> list[Path]:
    """The library's objects in `folder`, compiled unless they are there already.

    Link them behind the module's own objects, which are compiled with flags.support_definition(). Two processes may do this
    at once. Raises subprocess.CalledProcessError, its `stderr` the compiler's output.
    """
    return [_object(source, folder, [*compiler, *flags.support_flags(source.stem, gnu=gnu)]) for source in _sources()]


def _sources() -> list[Path]:
    return sorted((cmake_dir() / "support").glob("*.cc"))


def _object(source: Path, folder: Path, command: list[str]) -> Path:
    key = hashlib.sha256("\0".join(command).encode())
    for file in [source, *sorted(include_dir().rglob("*.h"))]:
        key.update(file.read_bytes())
    target = folder / f"{source.stem}_{key.hexdigest()[:16]}.o"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(suffix=".o", dir=folder)
        os.close(handle)
        try:
            subprocess.run([*command, "-c", source, "-o", partial], check=True, capture_output=True, text=True)
            os.replace(partial, target)
        finally:
            Path(partial).unlink(missing_ok=True)
    return target
