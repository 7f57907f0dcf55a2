"""Shapes in, shapes out: runs the signature's own check on what JAX traces, with no data behind it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import jax
import numpy as np

from . import _c, _dtypes, _statics
from ._arguments import Config
from ._function import Function


def results(config: Config, operands: Sequence[jax.Array]) -> tuple[list[jax.ShapeDtypeStruct], int | None]:
    """The shape and dtype of each result, and the size of the workspace in bytes (None: the function has none).

    Raises what the NumPy path raises for the same shapes: TypeError or ValueError naming function and parameter.
    """
    function = config.function
    keep: list[object] = []
    frame = _c.Frame()
    values = _values(config, iter([_view(function, operand, keep) for operand in operands]), keep)
    _c.check(
        _c.lib.kp_sig_check(function.program, function.c_name, values, None, _c.SIG_ABSTRACT, ctypes.byref(frame)),
        function.name,
    )
    found = [_result(function, frame, index) for index in range(function.num_results)]
    if not function.has_workspace:
        return found, None
    size = ctypes.c_uint64()
    _c.check(_c.lib.kp_sig_workspace_bytes(ctypes.byref(frame), function.c_name, ctypes.byref(size)), function.name)
    return found, size.value


def _values(config: Config, views, keep: list[object]):
    out = (_c.Any * max(1, len(config.slots)))()
    for index, slot in enumerate(config.slots):
        if slot[0] == "tensor":
            out[index] = next(views)
        elif slot[0] == "tensors":
            out[index] = _statics.array([next(views) for _ in range(slot[1])], keep)
        else:
            out[index] = _statics.any_value(slot, keep)
    return out


def _view(function: Function, operand: jax.Array, keep: list[object]) -> _c.Any:
    pair = _dtypes.to_dlpack(np.dtype(operand.dtype)) if isinstance(operand.dtype, np.dtype) else None
    if pair is None:
        raise TypeError(f"{function.name}: arrays of JAX dtype {operand.dtype} cannot be given to a kernel")
    shape = (ctypes.c_int64 * max(1, operand.ndim))(*operand.shape)
    view = _c.Tensor(device=_c.Device(1, 0), ndim=operand.ndim, dtype=_c.DType(*pair, 1), shape=shape)
    keep += [shape, view]
    out = _c.Any(type=_c.TYPE_TENSOR_VIEW)
    out.v.pointer = ctypes.addressof(view)
    return out


def _result(function: Function, frame: _c.Frame, index: int) -> jax.ShapeDtypeStruct:
    shape = (ctypes.c_int64 * _c.MAX_NDIM)()
    prototype = _c.Tensor()
    _c.check(
        _c.lib.kp_sig_result_prototype(ctypes.byref(frame), function.c_name, index, shape, ctypes.byref(prototype)),
        function.name,
    )
    dtype = _dtypes.to_numpy(prototype.dtype.code, prototype.dtype.bits)
    if dtype is None or (dtype in _dtypes.NEEDS_X64 and not jax.config.jax_enable_x64):  # type: ignore[attr-defined]
        name = _c.lib.kp_dtype_name(prototype.dtype).decode()
        advice = "this JAX has no such dtype"
        if dtype is not None:
            advice = "JAX's 64-bit types are off; jax.config.update('jax_enable_x64', True) turns them on"
        raise TypeError(f"{function.name}: result {index} is {name}: {advice}")
    return jax.ShapeDtypeStruct(tuple(shape[: prototype.ndim]), dtype)
