"""From a Python call to (which program, which arrays)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from kernpack._contract import Parameter, TensorType
from kernpack._core_helpers import not_jax

from . import _dtypes, _statics
from ._function import Function

_ARRAYS = (jax.Array, np.ndarray, np.generic)


@dataclass(frozen=True, repr=False)
class Config:
    """Everything about a call that is fixed when its program is compiled, but shapes and dtypes.

    `slots` has one key per parameter: a static argument's, ("none", None), ("tensor", 1), or ("tensors", length).
    """

    function: Function
    slots: tuple[_statics.Key, ...]

    @functools.cached_property
    def owners(self) -> tuple[int, ...]:
        """The number of the parameter that each array belongs to."""
        lengths = (length if tag in ("tensor", "tensors") else 0 for tag, length in self.slots)
        return tuple(index for index, length in enumerate(lengths) for _ in range(length))

    @functools.cached_property
    def operands(self) -> tuple[Parameter, ...]:
        """The parameter that each array belongs to."""
        return tuple(self.function.parameters[index] for index in self.owners)

    @functools.cached_property
    def mutated(self) -> tuple[int, ...]:
        """The arrays that are written in place; their new values come before the results."""
        return tuple(index for index, parameter in enumerate(self.operands) if parameter.mutated)

    @functools.cached_property
    def outputs(self) -> tuple[TensorType, ...]:
        """The contract's words for each output: new values, then all results."""
        new_values = [self.operands[index].tensor for index in self.mutated]
        return tuple(dims for dims in new_values if dims) + tuple(result.tensor for result in self.function.results)

    def __repr__(self) -> str:
        return repr(self.function)


def split(function: Function, values: Sequence[object]) -> tuple[Config, list[object]]:
    """Separates what is static from the arrays, which keep the order of the parameters."""
    slots: list[_statics.Key] = []
    arrays: list[object] = []
    for parameter, value in zip(function.parameters, values, strict=True):
        if value is None:
            slots.append(_statics.NONE)
        elif not parameter.is_tensor:
            slots.append(_statics.key(function, parameter, value))
        elif parameter.is_list:
            if not isinstance(value, (list, tuple)):
                advice = ": put it in brackets" if isinstance(value, _ARRAYS) else ""
                raise TypeError(
                    f"{function.name}: {parameter.name}: expected a list, got {type(value).__name__}{advice}"
                )
            arrays += [_array(function, parameter, item) for item in value]
            slots.append(("tensors", len(value)))
        else:
            arrays.append(_array(function, parameter, value))
            slots.append(("tensor", 1))
    config = Config(function, tuple(slots))
    for index, value in enumerate(arrays):
        if config.operands[index].scalar_ok and _has_no_dtype(value):
            arrays[index] = _with_dtype(value, _wanted_dtype(config, index, arrays))
    return config, arrays


def _has_no_dtype(value: object) -> bool:
    """True if the value is a plain number, or was computed from one: JAX calls its dtype weak."""
    if isinstance(value, jax.Array):
        return value.ndim == 0 and bool(getattr(jax.typeof(value), "weak_type", False))
    return isinstance(value, (bool, int, float))


def _wanted_dtype(config: Config, index: int, arrays: Sequence[object]) -> np.dtype | None:
    dims = config.operands[index].tensor
    assert dims is not None
    form, name = dims.dtype
    if form == "fixed":
        return _dtypes.from_name(name)
    for other, array in zip(config.operands, arrays, strict=True):
        if other.tensor is not None and other.tensor.dtype == dims.dtype and not _has_no_dtype(array):
            return np.dtype(array.dtype)  # type: ignore[attr-defined]
    return None


def _with_dtype(value: Any, dtype: np.dtype | None) -> Any:
    """The number as a rank-0 array; one that would lose its fraction stays as it is, for the check to refuse."""
    if dtype is None or (jnp.issubdtype(dtype, jnp.integer) and jnp.issubdtype(jnp.result_type(value), jnp.inexact)):
        return value
    return jax.lax.convert_element_type(value, dtype) if isinstance(value, jax.Array) else np.asarray(value, dtype)


def _array(function: Function, parameter: Parameter, given: object) -> object:
    if isinstance(given, _ARRAYS):
        return given
    value = _stood_for(given)
    if isinstance(value, _ARRAYS):
        return value
    if parameter.scalar_ok and isinstance(value, (bool, int, float)):
        return value
    raise TypeError(
        f"{function.name}: {parameter.name}: expected a JAX array like the other arguments, got {not_jax(given)}"
        + ("" if value is given else f", whose __jax_array__() gives {type(value).__name__}")
    )


def _stood_for(value: object) -> object:
    """The array behind what can give one, as jax.numpy finds it: flax.nnx.Param, and any class with `__jax_array__`."""
    convert = getattr(value, "__jax_array__", None)
    return value if convert is None else convert()
