"""The emulated CUDA device. Kernpack opens its library where KERNPACK_EMULATOR asks for it; nothing has to be imported."""

from pathlib import Path as _Path

from ._version import __version__

LIBRARY = _Path(__file__).with_name(
    "libkernpack_cuda_emulator.so"
)  # NVIDIA's driver API, and a part of the runtime API

__all__ = ["LIBRARY", "__version__"]
