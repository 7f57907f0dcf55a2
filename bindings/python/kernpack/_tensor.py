"""Tensors on devices: made, moved, copied, shown."""

from __future__ import annotations

import sys
from typing import Any

from kernpack import _core
from kernpack._numpy import numpy_from_tensor

_ALL_VALUES = 1000  # elements up to which repr brings a whole tensor from its device


def zeros(shape: Any, dtype: Any, device: Any = None, scope: str | None = None) -> _core.Tensor:
    """A Tensor of zeros on a device. `scope` is one of the device's memory scopes; None is the default."""
    tensor = _core.empty(shape, dtype, device, scope)
    _core.fill(tensor, 0)
    return tensor


def from_dlpack(x: Any, device: Any = None) -> _core.Tensor:
    """A Tensor that shares the memory of any array or tensor; on another `device`, a copy."""
    tensor = _core.as_tensor(x)
    return tensor if device is None else tensor_to(tensor, device, None)


def tensor_to(tensor: _core.Tensor, device: Any, scope: str | None) -> _core.Tensor:
    where = _core.Device(device)
    if where == tensor.device and not scope:
        return tensor
    moved = _core.empty(tensor.shape, tensor.dtype, where, scope)
    _core.copy(tensor, moved)
    return moved


def tensor_copy(tensor: _core.Tensor, source: Any) -> _core.Tensor:
    _core.copy(source if isinstance(source, _core.Tensor) else _core.as_tensor(source), tensor)
    return tensor


def tensor_repr(tensor: _core.Tensor) -> str:
    """Like NumPy's where NumPy is loaded and can read it."""
    where = "" if tensor.device.type == "cpu" else f", device={str(tensor.device)!r}"
    head = f"kernpack.Tensor(shape={tensor.shape}, dtype={str(tensor.dtype)!r}{where}"
    numpy = sys.modules.get("numpy")
    if numpy is None or (where and _count(tensor) > _ALL_VALUES):
        return head + ")"
    try:
        here = tensor_to(tensor, "cpu", None)
        values = numpy.array2string(numpy_from_tensor(here), threshold=20, separator=", ")
    except (BufferError, TypeError, ValueError, RuntimeError):
        return head + ")"
    return f"{head},\n{values})"


def _count(tensor: _core.Tensor) -> int:
    count = 1
    for extent in tensor.shape:
        count *= extent
    return count
