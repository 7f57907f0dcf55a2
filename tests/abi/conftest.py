from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support.host import INCLUDE

FAKE = Path(__file__).parent / "fake" / "module.c"


@pytest.fixture
def compile_fake(tmp_path: Path) -> Callable[..., Path]:
    """Compiles fake/module.c with these macros into a shared object of its own."""

    def compile_with(name: str = "fake", *flags: str, **macros: str) -> Path:
        out = tmp_path / f"{name}.so"
        defines = [f"-D{key}={value}" for key, value in macros.items()]
        subprocess.run(
            [
                "gcc",
                "-std=c99",
                "-Wall",
                "-shared",
                "-fPIC",
                "-fvisibility=hidden",
                f"-I{INCLUDE}",
                *defines,
                str(FAKE),
                *flags,
                "-o",
                str(out),
            ],
            check=True,
        )
        return out

    return compile_with
