"""Where values live: what the author says, and leaves to the planner otherwise."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import kernpack

from kernpack_compiler._native import VirtualDevice
from kernpack_compiler.program import _tree
from kernpack_compiler.program._symbol import Symbol, TraceError
from kernpack_compiler.program._trace import current

Place: TypeAlias = "VirtualDevice | kernpack.Device | str"


def virtual_device(place: Place) -> VirtualDevice:
    """ "opencl" is any device of that type, "opencl:1" is virtual device 1, which run(devices=...) maps to a real one."""
    if isinstance(place, VirtualDevice):
        return place
    if isinstance(place, kernpack.Device):
        return VirtualDevice(place.type, place.index)
    matched = re.fullmatch(r"([A-Za-z_]\w*)(?::(\d+))?", place) if isinstance(place, str) else None
    if matched is None:
        raise ValueError(f"program: expected a device such as 'opencl', 'opencl:1' or a VirtualDevice, got {place!r}")
    return VirtualDevice(matched[1], None if matched[2] is None else int(matched[2]))


def on_device(values: Any, place: Place) -> Any:
    """Sets the device of a symbol, on which the call that computes it then executes. Returns the symbol.

    values: a symbol, or several in a tuple, list or dict. TraceError if one is already placed elsewhere.
    """
    device = virtual_device(place)
    trace = current("program.on_device")

    def say(path: str, leaf: Any) -> Any:
        if not isinstance(leaf, Symbol):
            raise TraceError(f"{trace.name}: program.on_device: expected a symbol, got {type(leaf).__name__}")
        before = trace.find_device(leaf, "program.on_device")
        joined = VirtualDevice.join(before, device)
        if joined is None:
            raise leaf._error(
                f"program.on_device: expected a value that may be on {device}, got one already placed on {before}; "
                "copy it with program.device_copy(value, device)"
            )
        trace.place(leaf, joined)
        return leaf

    return _tree.rebuild(values, say)


def device_copy(value: Symbol, place: Place) -> Symbol:
    """A copy on another device. The planner adds the copies between devices that calls need by itself."""
    trace = current("program.device_copy")
    if not isinstance(value, Symbol):
        raise TraceError(f"{trace.name}: program.device_copy: expected a symbol, got {type(value).__name__}")
    return trace.copy(value, virtual_device(place))
