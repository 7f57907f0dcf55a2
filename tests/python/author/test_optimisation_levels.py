"""An author's -O and -ffast-math are what is compiled with, and loading the result changes no other computation."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import kernpack
import numpy as np
import pytest

SOURCE = """
int level() {
#ifdef __OPTIMIZE__
  return 1;
#else
  return 0;
#endif
}
int fast() {
#ifdef __FAST_MATH__
  return 1;
#else
  return 0;
#endif
}
"""
EXPORTS = 'KP_MODULE("levels", "1.0.0");\nKP_EXPORT(level, level);\nKP_EXPORT(fast, fast);\n'


@pytest.mark.parametrize(
    ("options", "level", "fast"),
    [([], 1, 0), (["-g", "-O0"], 0, 0), (["-O1"], 1, 0), (["-ffast-math"], 1, 1), (["-Ofast"], 1, 1)],
)
def test_load_inline_keeps_the_author_s(options: list[str], level: int, fast: int) -> None:
    k = kernpack.load_inline(SOURCE, ["level", "fast"], name="levels", extra_cflags=options)
    assert (k.level(), k.fast()) == (level, fast)
    assert np.float32(1e-40) * np.float32(0.5) != 0  # denormals are numbers still


def test_load_keeps_them_too(tmp_path: Path) -> None:
    source = tmp_path / "levels.cc"
    source.write_text(f"#include <kernpack/kernel.h>\n{SOURCE}{EXPORTS}")
    k = kernpack.load([source], extra_cflags=["-O0", "-ffast-math"])
    assert (k.level(), k.fast()) == (0, 1)
    assert np.float32(1e-40) * np.float32(0.5) != 0


def test_the_documented_command_keeps_them(tmp_path: Path) -> None:
    """docs/debugging.md: g++ -g -O1 $(kernpack config --cflags) my_kernels.cc $(kernpack config --ldflags)."""
    (tmp_path / "levels.cc").write_text(f"#include <kernpack/kernel.h>\n{SOURCE}{EXPORTS}")

    def config(what: str) -> list[str]:
        said = subprocess.run(
            [sys.executable, "-m", "kernpack", "config", what], capture_output=True, text=True, check=True
        )
        return shlex.split(said.stdout)

    command = ["g++", "-g", "-O0", *config("--cflags"), "levels.cc", *config("--ldflags"), "-o", "levels.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert kernpack.load(tmp_path / "levels.so").level() == 0
