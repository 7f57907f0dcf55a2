"""kernel.python(...): the author's function itself, on checked arrays, for pdb and for looking at values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import CellType, FunctionType
from typing import Any

import kernpack
from kernpack import _core

from kernpack_compiler.lang._arrays import Checked
from kernpack_compiler.lang._contract import Contract, Parameter, evaluate


def run(function: FunctionType, contract: Contract, given: Mapping[str, Any]) -> Any:
    """Results as NumPy arrays: one, or a tuple of them; None if the contract has none."""
    name = function.__name__
    arrays: dict[str, Any] = {}
    values: dict[str, Any] = {}
    dims: dict[str, int] = {}
    for p in contract.parameters:
        if p.is_scalar:
            values[p.name] = _scalar(name, p, given[p.name])
            if p.dtype.name[0] in "iu":
                dims[p.name] = int(values[p.name])
        else:
            arrays[p.name] = _array(name, p, given[p.name])
    leading = _bind(name, contract, arrays, dims)
    for p in contract.parameters:
        if not p.is_scalar:
            written = p.role == "inout"
            values[p.name] = Checked(name, p.name, p.dtype, arrays[p.name], written=written, is_empty=False)
    made = []
    for p in contract.results:
        shape = [evaluate(dim, dims) for dim in p.dims or ()]
        if None in shape:
            raise ValueError(f"{name}: {p.name}: its extents depend on a dim that no parameter has")
        if any(extent < 0 for extent in shape if extent is not None):
            raise ValueError(f"{name}: {p.name}: negative extent in shape {shape}")
        array = kernpack.empty(shape, p.dtype.name).numpy()
        made.append(array.reshape(*leading, *shape[1:]) if p.any_rank else array)
        values[p.name] = Checked(name, p.name, p.dtype, array, written=True, is_empty=True)
    _bound(function, {**dims, **values})(**{p.name: values[p.name] for p in contract.parameters})
    return None if not made else made[0] if len(made) == 1 else tuple(made)


def _scalar(function: str, p: Parameter, value: Any) -> Any:
    if (
        not isinstance(value, bool | int | float)
        and not hasattr(value, "__index__")
        and not hasattr(value, "__float__")
    ):
        raise TypeError(f"{function}: {p.name}: expected a number for {p.dtype}, got {type(value).__name__}")
    if p.dtype.is_float:
        return p.dtype(float(value))
    if p.dtype.name == "bool":
        return bool(value)
    if not hasattr(value, "__index__"):
        raise TypeError(f"{function}: {p.name}: expected an integer for {p.dtype}, got {type(value).__name__}")
    number = value.__index__()
    if int(p.dtype(number)) != number:
        raise OverflowError(f"{function}: {p.name}: {number} does not fit {p.dtype}")
    return number if p.dtype.name == "i64" else p.dtype(number)


def _array(function: str, p: Parameter, value: Any) -> Any:
    """A view of the argument's memory."""
    if isinstance(value, bool | int | float):
        raise TypeError(f"{function}: {p.name}: expected a tensor of {p.dtype}, got {type(value).__name__}")
    tensor = _core.as_writeable_tensor(value, f"{function}: {p.name}") if p.role == "inout" else _core.as_tensor(value)
    if tensor.dtype.name != p.dtype.name:
        raise TypeError(f"{function}: {p.name}: expected {p.dtype}, got {tensor.dtype.name}")
    array = tensor.numpy()
    if not array.flags.c_contiguous:
        raise ValueError(f"{function}: {p.name}: expected a contiguous tensor; pass a copy")
    return array


def _bind(function: str, contract: Contract, arrays: dict[str, Any], dims: dict[str, int]) -> tuple[int, ...]:
    """Gives the dims their values, and checks the shapes. Returns the dimensions that "N..." stands for."""
    leading: tuple[int, ...] = ()
    tensors = [p for p in contract.parameters if not p.is_scalar]
    for p in tensors:
        assert p.dims is not None
        array = arrays[p.name]
        if p.any_rank:
            rest = len(p.dims) - 1
            if array.ndim < rest:
                raise ValueError(f"{function}: {p.name}: expected at least {rest} dimensions, got {array.ndim}")
            leading = array.shape[: array.ndim - rest]
            arrays[p.name] = array = array.reshape(math.prod(leading), *array.shape[array.ndim - rest :])
        if array.ndim != len(p.dims):
            raise ValueError(f"{function}: {p.name}: expected {len(p.dims)} dimensions, got {array.ndim}")
        for dim, extent in zip(p.dims, array.shape, strict=True):
            name = getattr(dim, "id", None)
            if name is not None:
                dims.setdefault(name, int(extent))
    for p in tensors:
        for axis, (dim, extent) in enumerate(zip(p.dims or (), arrays[p.name].shape, strict=True)):
            expected = evaluate(dim, dims)
            if expected != extent:
                raise ValueError(f"{function}: {p.name}: expected extent {expected} at axis {axis}, got {extent}")
    return leading


def _bound(function: FunctionType, values: dict[str, Any]) -> Callable[..., Any]:
    """The function with its code as it is, in which the names of the contract have values."""
    code = function.__code__
    cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
    closure = tuple(CellType(values[name]) if name in values else cell for name, cell in cells)
    made = FunctionType(code, {**function.__globals__, **values}, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    return made
