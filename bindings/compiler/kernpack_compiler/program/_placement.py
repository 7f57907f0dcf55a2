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
    """ "opencl" leaves open which, "opencl:1" is virtual device 1 of that type: run(devices=...) says what that is."""
    if isinstance(place, VirtualDevice):
        return place
    if isinstance(place, kernpack.Device):
        return VirtualDevice(place.type, place.index)
    matched = re.fullmatch(r"([A-Za-z_]\w*)(?::(\d+))?", place) if isinstance(place, str) else None
    if matched is None:
        raise ValueError(f"program: expected a device such as 'opencl', 'opencl:1' or a VirtualDevice, got {place!r}")
    return VirtualDevice(matched[1], None if matched[2] is None else int(matched[2]))


def on_device(values: Any, place: Place) -> Any:
    """Says where a symbol lives, and so where the call that gives it executes. Gives the symbol back.

    values: a symbol, or several in a tuple, list or dict. TraceError when something else was said of one before.
    """
    device = virtual_device(place)
    trace = current("program.on_device")

    def say(path: str, leaf: Any) -> Any:
        if not isinstance(leaf, Symbol):
            raise TraceError(f"{trace.name}: program.on_device: expected a symbol, got {type(leaf).__name__}")
        before = trace.device_of(leaf, "program.on_device")
        joined = VirtualDevice.join(before, device)
        if joined is None:
            raise leaf._error(
                f"program.on_device says {device}, and before it was {before}: a value lives in one place; "
                "program.device_copy(value, device) gives another one elsewhere"
            )
        trace.place(leaf, joined)
        return leaf

    return _tree.rebuild(values, say)


def device_copy(value: Symbol, place: Place) -> Symbol:
    """A copy that lives on another device. Where values meet on different devices the planner copies by itself."""
    trace = current("program.device_copy")
    if not isinstance(value, Symbol):
        raise TraceError(f"{trace.name}: program.device_copy: expected a symbol, got {type(value).__name__}")
    return trace.copy(value, virtual_device(place))
