"""The library of the emulated device."""

from __future__ import annotations

import ctypes
from pathlib import Path

LIBRARY = Path(__file__).with_name("libkernpack_cuda_emulator.so")


def library() -> ctypes.CDLL:
    """The one that Kernpack has opened, which KERNPACK_CUDA_DRIVER may have named, or will open."""
    for mapped in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        if mapped.endswith(f"/{LIBRARY.name}"):
            return ctypes.CDLL(mapped[mapped.index("/") :])
    return ctypes.CDLL(str(LIBRARY))
