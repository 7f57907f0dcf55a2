"""An argument as `kernpack explain` reads it: "f32[4,8]{1,4}@cuda:0", "[f32[2],f32[3]]", "3", "None", "bf16"."""

from __future__ import annotations

import ast
import re
from typing import Any

from kernpack._core import Device, DType, device_count
from kernpack._device_facts import load_installed_backends
from kernpack._domain import Tensor
from kernpack._row_major import is_row_major

_TENSOR = re.compile(r"(\w+)\[([\d,\s]*)\](?:\{([-\d,\s]*)\})?(?:@([\w:]+))?")
_CPU = Device("cpu")
_FORMS = "a tensor (f32[4,8]), a list of them, a number, True, False, None, a string in quotes, a dtype or a device"


def parse(text: str, device: Device = _CPU) -> Any:
    """device: of tensors that name none. Raises ValueError for what is none of these."""
    text = text.strip()
    if tensor := _TENSOR.fullmatch(text):
        return _tensor(text, device, *tensor.groups())
    if text.startswith("[") and text.endswith("]"):
        return [parse(item, device) for item in _items(text[1:-1])]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _named(text)
    if value is None or isinstance(value, (int, float, str)):
        return value
    raise ValueError(f"'{text}': expected {_FORMS}")


def _tensor(text: str, device: Device, dtype: str, sizes: str, strides: str | None, own: str | None) -> Tensor:
    shape = _numbers(sizes)
    steps = None if strides is None else _numbers(strides)
    if steps is not None and len(steps) != len(shape):
        raise ValueError(f"'{text}': expected {len(shape)} strides, got {len(steps)}")
    place = device if own is None else parse_device(own)
    on = "cpu" if place.type == "cpu" else str(place)  # as messages call it
    return Tensor(shape, _dtype(dtype).name, on, None if steps is None or is_row_major(shape, steps) else steps)


def _dtype(name: str) -> DType:
    try:
        return DType(name)
    except (ValueError, TypeError):
        raise ValueError(f"no dtype '{name}'; expected f32, f64, f16, bf16, i32, i64, u8, bool, ...") from None


class NoDevice(ValueError):
    """A device that this machine doesn't have. Its name is right."""


def parse_device(name: str) -> Device:
    """Raises ValueError for a name that isn't a device's, and for a device that this machine doesn't have. Opens its driver."""
    try:
        device = Device(name)
    except (ValueError, TypeError) as error:
        raise ValueError(str(error)) from None
    return _present(device)


def _present(device: Device) -> Device:
    load_installed_backends()
    count, reason = device_count(device.type)
    if device.index < count:
        return device
    if count == 0:
        raise NoDevice(f"no device {device}: {reason or f'no {device.type} device was found'}")
    there = ", ".join(f"{device.type}:{i}" for i in range(count))
    raise NoDevice(f"no device {device}; expected one that this machine has: {there}")


def _named(text: str) -> Any:
    try:
        return DType(text)
    except (ValueError, TypeError):
        pass
    try:
        device = Device(text)
    except (ValueError, TypeError):
        raise ValueError(f"'{text}': expected {_FORMS}") from None
    return _present(device)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(",") if word.strip())


def _items(text: str) -> list[str]:
    """Splits at commas outside brackets."""
    items, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            items.append(text[start:i])
            start = i + 1
    return [item for item in [*items, text[start:]] if item.strip()]
