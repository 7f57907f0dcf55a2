"""NumPy's dtypes, as JAX uses them, and DLPack's (code, bits)."""

from __future__ import annotations

from typing import Any

import jax
import ml_dtypes
import numpy as np

from . import _c

_INT, _UINT, _FLOAT, _BFLOAT, _COMPLEX, _BOOL = 0, 1, 2, 4, 5, 6
_NAMED = {
    "float8_e3m4": (7, 8),
    "float8_e4m3": (8, 8),
    "float8_e4m3b11fnuz": (9, 8),
    "float8_e4m3fn": (10, 8),
    "float8_e4m3fnuz": (11, 8),
    "float8_e5m2": (12, 8),
    "float8_e5m2fnuz": (13, 8),
    "float8_e8m0fnu": (14, 8),
    "float4_e2m1fn": (17, 4),
    "bfloat16": (_BFLOAT, 16),
    "int2": (_INT, 2),
    "int4": (_INT, 4),
    "uint2": (_UINT, 2),
    "uint4": (_UINT, 4),
}


def _table() -> dict[np.dtype, tuple[int, int]]:
    table = {np.dtype(getattr(ml_dtypes, name)): pair for name, pair in _NAMED.items() if hasattr(ml_dtypes, name)}
    for bits in (8, 16, 32, 64):
        table[np.dtype(f"int{bits}")] = (_INT, bits)
        table[np.dtype(f"uint{bits}")] = (_UINT, bits)
    for bits in (16, 32, 64):
        table[np.dtype(f"float{bits}")] = (_FLOAT, bits)
    for bits in (64, 128):
        table[np.dtype(f"complex{bits}")] = (_COMPLEX, bits)
    table[np.dtype(bool)] = (_BOOL, 8)
    return table


_FROM_NUMPY = _table()
_TO_NUMPY = {pair: dtype for dtype, pair in _FROM_NUMPY.items()}
_BY_NAME = {_c.lib.kp_dtype_name(_c.DType(*pair, 1)).decode(): dtype for dtype, pair in _FROM_NUMPY.items()}
# What JAX narrows while 64-bit types are off, silently for results.
NEEDS_X64 = frozenset(np.dtype(name) for name in ("int64", "uint64", "float64", "complex128"))


def to_dlpack(dtype: np.dtype) -> tuple[int, int] | None:
    """(code, bits), or None for what is no number: JAX's keys and tokens."""
    return _FROM_NUMPY.get(dtype)


def of_jax(where: str, dtype: Any) -> tuple[int, int]:
    """(code, bits) of an array's dtype; a TypeError for JAX's keys and tokens."""
    pair = to_dlpack(np.dtype(dtype)) if isinstance(dtype, np.dtype) else None
    if pair is None:
        raise TypeError(f"{where}: arrays of JAX dtype {dtype} cannot be given to a kernel")
    return pair


def of_result(where: str, code: int, bits: int) -> np.dtype:
    """The dtype that JAX knows it by; a TypeError where this JAX has none."""
    dtype = _TO_NUMPY.get((code, bits))
    if dtype is not None and (dtype not in NEEDS_X64 or jax.config.jax_enable_x64):  # type: ignore[attr-defined]
        return dtype
    name = _c.lib.kp_dtype_name(_c.DType(code, bits, 1)).decode()
    advice = "this JAX has no such dtype"
    if dtype is not None:
        advice = "JAX's 64-bit types are off; jax.config.update('jax_enable_x64', True) turns them on"
    raise TypeError(f"{where} is {name}: {advice}")


def from_name(name: str) -> np.dtype:
    """NumPy's dtype for a name of the contract's ("bf16")."""
    return _BY_NAME[name]


def to_name(dtype: Any) -> str:
    """The contract's name of NumPy's dtype."""
    code, bits = _FROM_NUMPY[np.dtype(dtype)]
    return _c.lib.kp_dtype_name(_c.DType(code, bits, 1)).decode()
