"""tests/abi/fake/module.c, compiled with one fact changed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from support.host import INCLUDE, ROOT

FAKE = ROOT / "tests" / "abi" / "fake" / "module.c"
_OPTIONS = ("-std=c99", "-Wall", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{INCLUDE}")


def compile_fake_in(folder: Path) -> Callable[..., Path]:
    """compile(name, *flags, **macros): a shared object of its own in `folder`; compiler= replaces gcc."""

    def compile_with(name: str = "fake", *flags: str, compiler: tuple[str, ...] = ("gcc",), **macros: str) -> Path:
        out = folder / f"{name}.so"
        defines = [f"-D{key}={value}" for key, value in macros.items()]
        subprocess.run([*compiler, *_OPTIONS, *defines, str(FAKE), *flags, "-o", str(out)], check=True)
        return out

    return compile_with
