"""Code written for at::Half compiles with kp::half, with every compiler and standard that kernels are compiled with."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from support.host import INCLUDE

STRICT = ["-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}"]
FORMATS = """
#include <kernpack/format.h>
int main() { return std::format("{:.2f} {}", kernpack::half(1.5), kernpack::bfloat16(2)) != "1.50 2"; }
"""


@pytest.mark.parametrize(
    ("compiler", "flags"),
    [
        ("g++", ["-std=c++17"]),
        ("g++", ["-std=c++23", "-fno-rtti"]),
        ("clang++-19", ["-std=c++17"]),
        ("clang++-19", ["-std=c++23"]),
    ],
    ids=str,
)
def test_code_for_at_half_compiles(compiler: str, flags: list[str]) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    source = Path(__file__).with_name("small_float_uses.cc")
    done = subprocess.run(
        [compiler, *flags, *STRICT, "-fsyntax-only", source], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_std_format_shows_the_number(tmp_path: Path) -> None:
    probe = subprocess.run(
        ["g++", "-std=c++20", "-fsyntax-only", "-include", "format", "-xc++", "/dev/null"],
        capture_output=True,
        check=False,
    )
    if probe.returncode != 0:
        pytest.skip("the C++ library of this g++ has no <format>: GCC 13 and newer have it")
    source, program = tmp_path / "formats.cc", tmp_path / "formats"
    source.write_text(FORMATS)
    subprocess.run(["g++", "-std=c++20", *STRICT, source, "-o", program], check=True)
    assert subprocess.run([program], check=False).returncode == 0
