"""Where the installed apache-tvm-ffi keeps its library, which modules built with its SDK need. Found, not imported."""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path

from kernpack._system import library_file


@functools.cache
def peer_library() -> Path | None:
    """libtvm_ffi of the installed apache-tvm-ffi, or None."""
    try:
        spec = importlib.util.find_spec("tvm_ffi")
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        file = Path(folder) / "lib" / library_file("tvm_ffi")
        if file.exists():
            return file
    return None


def announce_peer() -> bool:
    """Tells the host where the library is; False if it isn't installed.

    Called when a load needs the library: looking for it takes longer than the load of a module that doesn't.
    """
    file = peer_library()
    if file is None or sys.platform != "linux":
        return False
    from kernpack import _core

    _core.set_peer_library(str(file))
    return True
