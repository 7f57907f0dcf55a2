"""Lists installed packages, and the drivers and libraries that they would use."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernpack import _core
from kernpack._compile import cache_dir
from kernpack._core import Device
from kernpack._device_facts import load_installed_backends
from kernpack._load import installed
from kernpack._peer import peer_library
from kernpack._private import private_states

if TYPE_CHECKING:
    from kernpack._module import Module

_FRAMEWORKS = ("numpy", "torch", "jax", "cupy", "apache-tvm-ffi", "kernpack-sdk")


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _devices() -> dict[str, str]:
    """The devices of each backend, or the reason why it has none. Opens drivers."""
    load_installed_backends()
    found = {}
    for backend in json.loads(_core.backend_info(True)):
        count = backend["devices"] or 0
        names = [str(Device(backend["name"], index).device_name or "") for index in range(count)]
        found[backend["name"] or backend["path"]] = ", ".join(filter(None, names)) or backend["reason"] or f"{count}"
    return found


def module_libraries(module: Module) -> dict[str, str]:
    """The libraries of other wheels that the module's files need, and where each was found."""
    loaded = {file["path"]: file["needs"] for file in json.loads(_core.module_files())}
    return {need["library"]: need["path"] for path in module_files(module) for need in loaded.get(path, [])}


def module_files(module: Module) -> list[str]:
    """The shared objects that have the implementations of its functions."""
    return sorted({variant["module_path"] for info in module.functions.values() for variant in info.variants})


def _how_verified(file: dict[str, str | None]) -> str:
    return f"verified, {file['verified']}" if file["verified"] else "unverified"


def gil() -> str:
    """ "on" or "off" now; an extension that needs the GIL switches it on when it is imported."""
    return "on" if getattr(sys, "_is_gil_enabled", lambda: True)() else "off"


def info() -> dict[str, Any]:
    """Versions, threads, devices, the cache folder, the installed kernel packages, and of each loaded file whether it was
    compared with the hash that pip wrote down. Imports no framework."""
    peer = peer_library()
    frameworks = {name: _version(name) for name in _FRAMEWORKS}
    return {
        "kernpack": _core.version,
        "path": str(Path(__file__).parent),
        "python": platform.python_version(),
        "gil": gil(),
        "platform": platform.platform(),
        "threads": _core.get_num_threads(),
        "inline_cache": str(cache_dir()),
        "peer_library": str(peer) if peer else "not installed",
        "frameworks": frameworks,
        "private_hooks": private_states(frameworks),
        "devices": _devices(),
        "loaded_files": {file["path"]: _how_verified(file) for file in json.loads(_core.module_files())},
        "kernel_packages": dict(sorted(installed().items())),
    }
