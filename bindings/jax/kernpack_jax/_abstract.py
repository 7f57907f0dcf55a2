"""Shapes in, shapes out: runs the signature's own check on what JAX traces, with no data behind it."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import jax

from . import _c, _dtypes, _statics, _symbolic
from ._arguments import Config
from ._function import Function

Shape = tuple[Any, ...]  # of ints, or of jax.export's symbolic dims


def results(config: Config, operands: Sequence[Any]) -> tuple[tuple[jax.ShapeDtypeStruct, ...], Any]:
    """The shape and dtype of each result, and the size of the workspace in bytes (None: the function has none).

    Raises what the NumPy path raises for the same shapes: TypeError or ValueError naming function and parameter. Where dims
    are symbolic, what cannot be decided now is checked when the program runs.
    """
    described = tuple((tuple(operand.shape), operand.dtype) for operand in operands)
    if any(not isinstance(dim, int) for shape, _ in described for dim in shape):
        return _symbolic.results(config, described)
    return _checked(config, described, bool(jax.config.jax_enable_x64))  # type: ignore[attr-defined]


@functools.lru_cache(maxsize=8192)
def _checked(
    config: Config, described: tuple[tuple[Shape, Any], ...], x64: bool
) -> tuple[tuple[jax.ShapeDtypeStruct, ...], int | None]:
    del x64  # part of the key: which dtypes there are depends on it
    function = config.function
    keep: list[object] = []
    frame = _c.Frame()
    values = _values(config, iter([_view(function, shape, dtype, keep) for shape, dtype in described]), keep)
    _c.check(
        _c.lib.kp_sig_check(function.program, function.c_name, values, None, _c.SIG_ABSTRACT, ctypes.byref(frame)),
        function.name,
    )
    found = tuple(_result(function, frame, index) for index in range(function.num_results))
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


def _view(function: Function, shape: Shape, dtype: Any, keep: list[object]) -> _c.Any:
    pair = _dtypes.of_jax(function.name, dtype)
    dims = (ctypes.c_int64 * max(1, len(shape)))(*shape)
    view = _c.Tensor(device=_c.Device(1, 0), ndim=len(shape), dtype=_c.DType(*pair, 1), shape=dims)
    keep += [dims, view]
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
    dtype = _dtypes.of_result(f"{function.name}: result {index}", prototype.dtype.code, prototype.dtype.bits)
    return jax.ShapeDtypeStruct(tuple(shape[: prototype.ndim]), dtype)
