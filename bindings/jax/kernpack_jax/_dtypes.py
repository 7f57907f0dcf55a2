"""NumPy's dtypes, as JAX uses them, and DLPack's (code, bits)."""

from __future__ import annotations

import ml_dtypes
import numpy as np

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
# What JAX narrows while 64-bit types are off, silently for results.
NEEDS_X64 = frozenset(np.dtype(name) for name in ("int64", "uint64", "float64", "complex128"))


def to_dlpack(dtype: np.dtype) -> tuple[int, int] | None:
    """(code, bits), or None for what is no number: JAX's keys and tokens."""
    return _FROM_NUMPY.get(dtype)


def to_numpy(code: int, bits: int) -> np.dtype | None:
    """The dtype that JAX knows it by; None where this JAX has none."""
    return _TO_NUMPY.get((code, bits))
