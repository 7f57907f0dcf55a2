"""Python in a process of its own: KERNPACK_EMULATOR counts when the CUDA backend is opened."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def run(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """With those variables of Kernpack's devices alone."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("KERNPACK_EMULATOR", "KERNPACK_CUDA"))
    }
    return subprocess.run(
        [sys.executable, *command], env={**kept, **variables}, capture_output=True, text=True, check=False, timeout=600
    )


class Behind:
    """A tensor of one dim without its first element, as DLPack."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **_: object) -> object:
        capsule = self.tensor.__dlpack__()
        address = ctypes.pythonapi.PyCapsule_GetPointer
        address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        # data, device, ndim, dtype, shape, strides, byte_offset
        words = ctypes.cast(address(capsule, b"dltensor"), ctypes.POINTER(ctypes.c_uint64))
        ctypes.cast(words[3], ctypes.POINTER(ctypes.c_int64))[0] -= 1
        words[5] += 8
        return capsule
