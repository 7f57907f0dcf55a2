"""Keyed storage: values that kernels keep between calls, seen from Python.

Keys belong to the module that stored them; keys that begin with "::" are shared by all. `device` and `stream` pick the
scope: neither is the process, a device alone is that device, both are that stream.
"""

from __future__ import annotations

import json
from typing import Any

from kernpack import _core

_PROCESS, _DEVICE, _STREAM = 0, 1, 2


def _scope(device: Any, stream: int | None) -> int:
    if device is None:
        if stream is not None:
            raise ValueError(
                "storage: expected device= beside stream=, got a stream alone; pass the device that it belongs to"
            )
        return _PROCESS
    return _DEVICE if stream is None else _STREAM


def stats() -> Any:
    """Stored values, by module, scope and device: keys, bytes, workspaces."""
    return json.loads(_core.storage_stats())


def get(module: str, key: str, *, device: Any = None, stream: int | None = None) -> Any:
    """The stored value. KeyError when there is none."""
    found, value = _core.storage_get(module, key, _scope(device, stream), device, stream or 0)
    if not found:
        raise KeyError(f"storage: module '{module}' has no key '{key}'")
    return value


def set(module: str, key: str, value: Any, *, device: Any = None, stream: int | None = None) -> None:
    """Stores a value, replacing what was there."""
    _core.storage_set(module, key, _scope(device, stream), device, stream or 0, value)


def erase(module: str, key: str, *, device: Any = None, stream: int | None = None) -> bool:
    """Drops a key. Returns whether it was there."""
    return _core.storage_erase(module, key, _scope(device, stream), device, stream or 0)


def keys(module: str, *, device: Any = None, stream: int | None = None) -> list[str]:
    """The module's keys in that scope, sorted."""
    return _core.storage_list(module, "*", _scope(device, stream), device, stream or 0)


def reset_device(device: Any) -> None:
    """Drops everything scoped to a device or its streams."""
    _core.storage_reset_device(device)
