"""What is installed and what it would use."""

from __future__ import annotations

import importlib.metadata
import platform
from pathlib import Path
from typing import Any

from kernpack import _core
from kernpack._inline import cache_dir
from kernpack._load import installed
from kernpack._peer import peer_library

_FRAMEWORKS = ("numpy", "torch", "jax", "cupy", "apache-tvm-ffi", "kernpack-sdk")


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def info() -> dict[str, Any]:
    """Versions, threads, the cache folder and the installed kernel packages. Imports no framework."""
    peer = peer_library()
    return {
        "kernpack": _core.version,
        "path": str(Path(__file__).parent),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "threads": _core.get_num_threads(),
        "inline_cache": str(cache_dir()),
        "peer_library": str(peer) if peer else "not installed",
        "frameworks": {name: _version(name) for name in _FRAMEWORKS},
        "kernel_packages": dict(sorted(installed().items())),
    }
