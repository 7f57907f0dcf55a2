"""The processor levels that the kernels are compiled for, and which of them a process runs."""

from __future__ import annotations

import functools
import os
import subprocess
import sys

LEVELS = (
    "x86-64-v2",
    "x86-64-v3",
    "x86-64-v3 -mattr=+avxvnni",
    "x86-64-v4",
    "x86-64-v4 -mattr=+avx512vnni",
    "x86-64-v4 -mattr=+avx512vnni,+avx512bf16",
)


CHOSEN = """
import kernpack
for name, function in kernpack.load("kernpack_kernels").functions.items():
    print(name, [each["target"] for each in function.variants if each["chosen"]])
"""


@functools.cache
def chosen(**variables: str) -> str:
    """Which variant of each op a process runs."""
    command = [sys.executable, "-c", CHOSEN]
    return subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=True).stdout
