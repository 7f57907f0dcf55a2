"""Kernpack: kernels written once, called from NumPy, CuPy, PyTorch and JAX.

    import kernpack
    k = kernpack.load("my_kernels")      # an installed kernel package, or a path
    y = k.rms_norm(x, w)                 # x: NumPy, torch, JAX, ...; y is of the same kind

Importing this imports neither numpy nor torch nor jax.
"""

from typing import TYPE_CHECKING, Any

from kernpack import storage
from kernpack._checking import checking
from kernpack._core import Device, DType, Object, Tensor, empty, get_num_threads, set_num_threads
from kernpack._core import version as __version__
from kernpack._device import Stream, current_stream, devices, load_backend, stream
from kernpack._errors import CheckError, InternalError, KernelError, register_error
from kernpack._load import installed, load
from kernpack._module import FunctionInfo, Module
from kernpack._profile import profile
from kernpack._registry import get_func, list_funcs, register_func, remove_func
from kernpack._tensor import from_dlpack, zeros

if TYPE_CHECKING:
    # Imported by C alone: tools that freeze programs (cx_Freeze, Nuitka) find it by this line.
    from kernpack import _core_helpers  # noqa: F401
    from kernpack._info import info
    from kernpack._inline import load_inline
    from kernpack._reload import reload

device = Device
dtype = DType

__all__ = [
    "CheckError",
    "DType",
    "Device",
    "FunctionInfo",
    "InternalError",
    "KernelError",
    "Module",
    "Object",
    "Stream",
    "Tensor",
    "__version__",
    "checking",
    "current_stream",
    "device",
    "devices",
    "dtype",
    "empty",
    "from_dlpack",
    "get_func",
    "get_num_threads",
    "info",
    "installed",
    "list_funcs",
    "load",
    "load_backend",
    "load_inline",
    "profile",
    "register_error",
    "register_func",
    "reload",
    "remove_func",
    "set_num_threads",
    "storage",
    "stream",
    "zeros",
]


def __getattr__(name: str) -> Any:
    """Imports rarely used parts when they are first requested."""
    if name == "info":
        from kernpack._info import info

        return info
    if name == "load_inline":
        from kernpack._inline import load_inline

        return load_inline
    if name == "reload":
        from kernpack._reload import reload

        return reload
    raise AttributeError(f"module 'kernpack' has no attribute '{name}'")
