"""Compares two outcomes, bit by bit or up to the precision of their dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

# Relative to an element, and to the largest of its tensor: sums in another order differ by as much.
_TOLERANCE = {
    "float64": 1e-9,
    "complex128": 1e-9,
    "float32": 2e-4,
    "complex64": 2e-4,
    "float16": 2e-2,
    "bfloat16": 8e-2,
}

# Arguments are of the size of 1: what is left where their sums cancel each other is rounding.
_CANCELLED = 1e-3


def tolerance(dtype: Any) -> float:
    return _TOLERANCE.get(np.dtype(dtype).name, 0.5)


def is_inexact(dtype: Any) -> bool:
    """Floats and complex numbers, those of ml_dtypes too."""
    return np.dtype(dtype).kind in "fc" or (np.dtype(dtype).kind == "V" and "float" in np.dtype(dtype).name)


def widened(array: np.ndarray) -> np.ndarray:
    """As doubles, in which every smaller float is exact."""
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    return array.astype(np.float64) if is_inexact(array.dtype) else array


def differing(a: np.ndarray, b: np.ndarray, *, exact: bool, bound: float = 0.0) -> np.ndarray:
    """Where they differ, as a mask, by more than the bound, or what their dtype allows. Any NaN is like any other."""
    if not is_inexact(a.dtype):
        return np.asarray(a != b)
    bound = max(bound, tolerance(a.dtype))
    a, b = widened(a), widened(b)
    with np.errstate(all="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        if exact:
            return np.asarray(~same | ((a == 0) & (np.signbit(a.real) != np.signbit(b.real))))
        finite = np.abs(a[np.isfinite(a)])
        scale = finite.max() if finite.size else 0.0
        near = np.abs(a - b) <= bound * (np.maximum(np.abs(a), np.abs(b)) + scale + _CANCELLED)
        return np.asarray(~(same | (near & np.isfinite(a) & np.isfinite(b))))


def difference(
    names: Sequence[str], a: Sequence[np.ndarray], b: Sequence[np.ndarray], *, exact: bool, bound: float = 0.0
) -> str:
    """The first difference in words; empty where there is none."""
    for name, one, other in zip(names, a, b, strict=True):
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"{name} is {one.dtype}{list(one.shape)} and {other.dtype}{list(other.shape)}"
        wrong = differing(one, other, exact=exact, bound=bound)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            count = f" ({int(wrong.sum())} of {wrong.size} elements)" if wrong.size > 1 else ""
            return f"{name}{list(at) if at else ''} is {one[at]} and {other[at]}{count}"
    return ""
