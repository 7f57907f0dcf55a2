"""CMake's variables for the systems that zig compiles for: on Linux another system, on Windows its own."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

from kernpack_sdk import cmake_dir

WINDOWS = "win_amd64"
NO_ZIG = "no compiler; pip install ziglang"
NO_NINJA = "no ninja on the PATH; pip install ninja"


def own_system() -> str | None:
    """The platform that zig compiles for where nothing else was asked for: Windows' programs need no Visual Studio."""
    return WINDOWS if sys.platform == "win32" else None


def find_zig() -> Path | None:
    """PyPI's ziglang."""
    found = importlib.util.find_spec("ziglang")
    for folder in found.submodule_search_locations or [] if found else []:
        if zig := shutil.which("zig", path=folder):
            return Path(zig)
    return None


def defines(system: str, zig: Path) -> dict[str, str]:
    toolchain = cmake_dir() / "toolchains" / f"{system}.cmake"
    return {"CMAKE_TOOLCHAIN_FILE": toolchain.as_posix(), "KERNPACK_ZIG": zig.as_posix()}
