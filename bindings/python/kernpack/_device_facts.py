"""Properties of a device and its backend; called by kernpack.Device."""

from __future__ import annotations

import json
import warnings
from typing import Any

from kernpack import _core

_GROUP = "kernpack.backends"
# KpDeviceFlags, by bit
_CAPABILITIES = (
    "addresses",
    "host_access",
    "streams",
    "events",
    "strided_copy",
    "async_copy",
    "code",
    "peer_copy",
    "async_alloc",
    "fork_safe",
)
_looked = False


def load_installed_backends() -> bool:
    """Loads the plugins that installed packages offer, once; whether there were any.

    An entry point of the group `kernpack.backends` names the path of a plugin, or a function that returns it.
    """
    global _looked
    if _looked:
        return False
    _looked = True
    import importlib.metadata  # half of the time of `import kernpack`, if it were imported there

    found = False
    for entry in importlib.metadata.entry_points(group=_GROUP):
        try:
            offered = entry.load()
            _core.backend_load(str(offered() if callable(offered) else offered))
            found = True
        except Exception as error:  # one package's mistake must not take the others' devices away
            warnings.warn(f"kernpack: the backend {entry.name} cannot be loaded: {error}", RuntimeWarning, stacklevel=2)
    return found


def thread_dimensions(text: str) -> tuple[int, ...]:
    """ "[1024, 1024, 64]" as numbers."""
    return tuple(json.loads(text))


def device_scopes(device: _core.Device) -> tuple[str, ...]:
    return tuple(_core.device_facts(device)[2])


def device_properties(device: _core.Device) -> tuple[str, ...]:
    return tuple(_core.device_facts(device)[3])


def device_capabilities(device: _core.Device) -> frozenset[str]:
    flags = _core.device_facts(device)[0]
    return frozenset(name for bit, name in enumerate(_CAPABILITIES) if flags >> bit & 1)


def device_property(device: _core.Device, name: str) -> Any:
    return _core.device_property(device, name)


def device_sync(device: _core.Device) -> None:
    _core.stream_sync(device, _core.stream_get(device))


def device_reset(device: _core.Device) -> None:
    _core.device_reset(device)
