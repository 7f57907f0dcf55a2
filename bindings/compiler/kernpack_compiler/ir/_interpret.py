"""The interpreter for arrays: runs functions slowly, and checks every access."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import kernpack
from kernpack import _core

from kernpack_compiler._native import ir as _ir


def interpret(
    module: _ir.IRModule,
    function: str | _ir.PrimFunc,
    *arguments: Any,
    memory: _ir.PersistentMemory | None = None,
    externs: Mapping[str, Callable[..., float]] | None = None,
    max_steps: int = 0,
) -> Any:
    """Runs a function of the module on CPU arrays (NumPy, torch, anything with DLPack), contiguous and of its dtypes.

    arguments: the parameters in order, and the results after them if they are to be written in place.
    memory: keeps the function's `ir.persistent` buffers between calls; None: new for each call.
    externs: the functions that `ir.extern` calls, by name.
    max_steps: statements and iterations before a RuntimeError; 0: no limit.

    Returns the results as NumPy arrays: one, or a tuple; None if they were given. TypeError or ValueError for arguments
    that don't fit, or that are read-only and written to; IndexError for an access out of bounds; errors of `ir.check`.
    """
    name = function if isinstance(function, str) else function.name
    params = module[name].params
    inputs = [param for param in params if param[1] != "result"]
    results = [param for param in params if param[1] == "result"]
    if len(arguments) not in (len(inputs), len(params)):
        whole = f" or {len(params)} with the results" if results else ""
        raise TypeError(f"{name}: expected {len(inputs)} arguments{whole}, got {len(arguments)}")
    tensors: list[Any] = []
    values = [_value(name, param, argument, tensors) for param, argument in zip(params, arguments, strict=False)]
    made: list[Any] = []
    if len(arguments) == len(inputs) and results:
        shapes = _ir.result_shapes(module, name, values)
        made = [_new(name, param, shape) for param, shape in zip(results, shapes, strict=True)]
        values += [_view(tensor, param) for tensor, param in zip(made, results, strict=True)]
    _ir.interpret(module, name, values, memory or _ir.PersistentMemory(), dict(externs or {}), max_steps)
    arrays = tuple(tensor.numpy() for tensor in made)
    return None if not arrays else arrays[0] if len(arrays) == 1 else arrays


def _new(name: str, param: _ir.Param, shape: list[int]) -> kernpack.Tensor:
    if any(extent < 0 for extent in shape):
        raise ValueError(f"{name}: {param[0]}: negative extent in shape {shape}")
    return kernpack.empty(shape, param[2].name)


def _value(name: str, param: _ir.Param, argument: Any, tensors: list[Any]) -> Any:
    """The interpreter's value for an argument; tensors made of it stay alive in `tensors`."""
    if param[3] is None:
        if not isinstance(argument, Real):
            raise TypeError(f"{name}: {param[0]}: expected a number for {param[2].name}, got {type(argument).__name__}")
        if isinstance(argument, bool):
            return argument
        return int(argument) if isinstance(argument, Integral) else float(argument)
    if isinstance(argument, Real):
        raise TypeError(f"{name}: {param[0]}: expected a tensor of {param[2].name}, got {type(argument).__name__}")
    writes = param[1] != "input"
    tensors.append(_core.as_writeable_tensor(argument, f"{name}: {param[0]}") if writes else _core.as_tensor(argument))
    return _view(tensors[-1], param)


def _view(tensor: kernpack.Tensor, param: _ir.Param) -> _ir.View:
    if tensor.device.type != "cpu":
        raise ValueError(f"{param[0]}: the interpreter takes memory of the CPU, got {tensor.device}")
    return _ir.View(tensor.data_ptr, list(tensor.shape), list(tensor.strides), tensor.dtype.name)
