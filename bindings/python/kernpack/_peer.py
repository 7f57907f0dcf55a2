"""Where the installed apache-tvm-ffi keeps its library, which modules built with its SDK need. Found, not imported."""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path


@functools.cache
def peer_library() -> Path | None:
    """libtvm_ffi of the installed apache-tvm-ffi, or None."""
    try:
        spec = importlib.util.find_spec("tvm_ffi")
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        file = Path(folder) / "lib" / "libtvm_ffi.so"
        if file.exists():
            return file
    return None


_announced = False


def announce_peer() -> None:
    """Tells the host once. Cheap afterwards."""
    global _announced
    if _announced:
        return
    file = peer_library()
    if file is not None and sys.platform == "linux":
        from kernpack import _core

        _core.set_peer_library(str(file))
    _announced = True  # the last: another thread's load goes on from here
