"""The kernels of kernels.cc and kernels.c, and how they are called: by a C program, as debuggers are slow on Python."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
CXX_SOURCE = HERE / "kernels.cc"
C_SOURCE = HERE / "kernels.c"


def find_line(source: Path, comment: str) -> str:
    """How a backtrace puts the line with that comment."""
    return f'{source}", line {find_line_number(source, comment)},'


def find_line_number(source: Path, comment: str) -> int:
    lines = source.read_text().splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if re.search(rf"/[/*] {comment}( \*/)?$", line)]
    return number


class Calls:
    """The program of host.c, and an environment of its own."""

    def __init__(self, program: Path, cache: Path) -> None:
        self.program = program
        self.environment = {**os.environ, "KERNPACK_CACHE_DIR": str(cache)}

    def run(
        self, module: Path, function: str, number: int, *, under: tuple[str, ...] = (), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*under, str(self.program), str(module), function, str(number)],
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=600,
            check=False,
        )
