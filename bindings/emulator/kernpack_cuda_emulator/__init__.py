"""The emulated CUDA device. Kernpack opens its library where KERNPACK_EMULATOR asks for it; nothing has to be imported.

`counted()` tells what kernels do; `python -m kernpack_cuda_emulator FILE` prints what KERNPACK_EMULATOR_COUNTS=FILE wrote.
"""

from ._version import __version__
from .counts import LIBRARY, CountsError, Estimate, counted, estimate, read
from .devices import DEVICES, Device

__all__ = ["DEVICES", "LIBRARY", "CountsError", "Device", "Estimate", "__version__", "counted", "estimate", "read"]
