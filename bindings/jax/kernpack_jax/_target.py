"""The custom-call target that all functions share, registered with XLA once a process."""

from __future__ import annotations

import ctypes
import functools
import hashlib
from pathlib import Path

import jax
from kernpack import _core
from kernpack._system import library_file

# The file that the call core is linked with, so that the loader hands back the library already in the process.
_LIBRARY = Path(_core.__file__).parent / library_file("kernpack")
_STAGES = {"cpu": "kp_xla_ffi_execute_cpu", "CUDA": "kp_xla_ffi_execute_cuda"}


# In programs that jax.export writes; every version of this library answers to it.
EXPORTED = "kernpack.call.v1"


@functools.cache
def target_name() -> str:
    """Registers on first use. The name holds a hash of the library, so two builds of it in one process do not meet."""
    digest = hashlib.sha256(_LIBRARY.read_bytes()).hexdigest()[:12]
    name = f"{EXPORTED}.{digest}"
    for target in (name, EXPORTED):
        for platform, execute in _STAGES.items():
            stages = {"instantiate": _capsule("kp_xla_ffi_instantiate"), "execute": _capsule(execute)}
            # CUDA's is queued by JAX until, and unless, its plugin is loaded.
            jax.ffi.register_ffi_target(target, stages, platform=platform, api_version=1)
    return name


def _capsule(symbol: str) -> object:
    return jax.ffi.pycapsule(ctypes.cast(getattr(ctypes.PyDLL(str(_LIBRARY)), symbol), ctypes.c_void_p).value)
