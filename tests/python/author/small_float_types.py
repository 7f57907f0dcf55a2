"""The element types below 32 bits as a C library (small_floats.cc), and the NumPy types that they are compared with."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from support.host import INCLUDE

TYPES = {
    "half": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}


def build(path: Path) -> ctypes.CDLL:
    source = Path(__file__).with_name("small_floats.cc")
    command = ["g++", "-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{INCLUDE}", source]
    subprocess.run([*command, "-o", path], check=True)
    return ctypes.CDLL(str(path))


def patterns(name: str) -> np.ndarray:
    """The bits of every value."""
    bits = 8 * np.dtype(TYPES[name]).itemsize
    return np.arange(1 << bits, dtype=f"u{bits // 8}")


def call(function: Any, *sources: np.ndarray, shape: tuple[int, ...] | None = None, dtype: Any) -> np.ndarray:
    """The results of the function, of n elements each."""
    out = np.empty(shape or sources[0].shape, dtype)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*sources, out)]
    function(*pointers, ctypes.c_long(sources[0].size))
    return out
