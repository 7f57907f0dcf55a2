"""tests/abi/fake/module.c, compiled with one fact changed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from support import c_modules
from support.host import INCLUDE, ROOT

FAKE = ROOT / "tests" / "abi" / "fake" / "module.c"
_OPTIONS = ("-std=c99", "-Wall", f"-I{INCLUDE}")


def compile_fake_in(folder: Path) -> Callable[..., Path]:
    """compile(name, *flags, **macros): a module of its own in `folder`; command= replaces the command that makes modules of C."""

    def compile_with(name: str = "fake", *flags: str, command: tuple[str, ...] = (), **macros: str) -> Path:
        out = folder / f"{name}{c_modules.SUFFIX}"
        defines = [f"-D{key}={value}" for key, value in macros.items()]
        subprocess.run(
            [*(command or c_modules.command()), *_OPTIONS, *defines, str(FAKE), *flags, "-o", str(out)], check=True
        )
        return out

    return compile_with
