"""Static arguments in three forms: what Python gives, a hashable key that distinguishes -0.0 and NaN, XLA's attribute.

A key is a pair (tag, value). Floats are kept as the integer that their bits make, because equal keys must mean the same
program, and 0.0 == -0.0 while nan != nan.
"""

from __future__ import annotations

import operator
import struct
import sys
from typing import Any

import jax
import numpy as np
from kernpack import Device, DType
from kernpack._contract import Parameter
from kernpack._core_helpers import shown

from ._function import Function

Key = tuple[str, Any]
NONE: Key = ("none", None)

_INT64 = range(-(2**63), 2**63)
_LIST_KEY = "i{:08d}"  # a dictionary's entries arrive sorted by name


def key(function: Function, parameter: Parameter, value: object) -> Key:
    """The key of one static argument. A value of a wrong type keeps its own tag; the signature check then names it."""
    if value is None and parameter.optional:
        return NONE
    if parameter.is_list:
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"{function.name}: {parameter.name}: expected a list, got {type(value).__name__}")
        return ("list", tuple(_scalar(function, parameter, item) for item in value))
    return _scalar(function, parameter, value)


def _scalar(function: Function, parameter: Parameter, value: object) -> Key:
    where = f"{function.name}: {parameter.name}"
    if isinstance(value, jax.core.Tracer):
        raise TypeError(
            f"{where}: expected {parameter.kind}, got a value that JAX is tracing; it decides how the program is "
            "compiled, so pass a Python value (jax.jit: static_argnames)"
        )
    if parameter.kind == "dtype":
        return ("dtype", _dtype_name(where, value))
    if parameter.kind == "device":
        return ("device", _device_name(where, value))
    if isinstance(value, (bool, np.bool_)):
        return ("bool", bool(value))
    if isinstance(value, (float, np.floating)) or type(value).__module__ == "ml_dtypes":
        return _float(float(value))  # type: ignore[arg-type]
    if isinstance(value, str):
        return ("str", _encodable(where, value))
    exporting = sys.modules.get("jax.export")  # what makes symbolic dims
    if exporting is not None and exporting.is_symbolic_dim(value):
        raise TypeError(
            f"{where}: expected {parameter.kind}, got the symbolic dim {value}; a static argument is fixed when the "
            "program is exported"
        )
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{where}: expected {parameter.kind}, got {type(value).__name__}") from None
    if number not in _INT64:
        raise OverflowError(f"{where}: expected an int of 64 bits (-2**63 to 2**63 - 1), got {shown(number)}")
    return _float(float(number)) if parameter.kind == "float" else ("int", number)


def _float(value: float) -> Key:
    return ("float", struct.unpack("<q", struct.pack("<d", value))[0])


def _encodable(where: str, value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{where}: expected a str that can be encoded as UTF-8, got {shown(value)}") from None
    return str(value)


def _dtype_name(where: str, value: object) -> str:
    if not isinstance(value, str):
        try:
            return DType(np.dtype(value)).name  # type: ignore[call-overload]
        except (TypeError, ValueError):
            value = str(value)
    try:
        return DType(_encodable(where, value)).name
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _device_name(where: str, value: object) -> str:
    name = _encodable(where, value if isinstance(value, str) else str(getattr(value, "device_kind", value)))
    try:
        Device(name)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return name


def attribute(parameter: Parameter, static: Key) -> tuple[str, object]:
    """The name and value of XLA's attribute, as ffi_call takes it (ffi/src/guests/xla/attributes.h lists the encodings)."""
    name = parameter.name
    tag, value = static
    if tag != "list":
        return _attribute_name(name, tag), np.int64(value) if tag in ("int", "float") else value
    item_tag = value[0][0] if value else "int"
    items = [item[1] for item in value]
    if parameter.kind in ("str", "dtype", "device"):
        return name, {_LIST_KEY.format(index): item for index, item in enumerate(items)}
    return _attribute_name(name, item_tag), np.array(items, np.bool_ if item_tag == "bool" else np.int64)


def _attribute_name(name: str, tag: str) -> str:
    return f"{name}.bits" if tag == "float" else name


def value(static: Key) -> Any:
    """The value of the key, for the check at trace time."""
    tag, kept = static
    if tag == "list":
        return [value(item) for item in kept]
    if tag == "float":
        return struct.unpack("<d", struct.pack("<q", kept))[0]
    if tag in ("dtype", "device"):
        return DType(kept) if tag == "dtype" else Device(kept)
    return kept
