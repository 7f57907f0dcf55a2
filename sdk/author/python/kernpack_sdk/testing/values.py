"""Values of tensors and numbers. Integers may be indices, lengths or offsets: ways to fill them are tried until a kernel accepts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from kernpack import _numpy
from kernpack._contract import Parameter

from kernpack_sdk.testing import compare


@dataclass(frozen=True)
class Draw:
    """The argument of an author's generator. shape, dtype: of the tensor to make, None for a number; dims: the sizes of this call by
    name; values: the arguments before this one."""

    rng: np.random.Generator
    op: str
    name: str
    shape: tuple[int, ...] | None
    dtype: Any
    dims: dict[str, int]
    values: dict[str, Any] = field(default_factory=dict)


def numpy_dtype(name: str) -> np.dtype[Any] | None:
    """None: NumPy cannot hold it, not with ml_dtypes either."""
    try:
        return np.dtype(_numpy.numpy_dtype(name))
    except TypeError:
        return None


def floats(draw: Draw, style: str) -> np.ndarray:
    """style: "normal", "positive" or "special", which has NaNs, infinities and zeros in it."""
    assert draw.shape is not None
    dtype = np.dtype(draw.dtype)
    positive = style == "positive"
    found = draw.rng.uniform(0.25, 1.75, draw.shape) if positive else draw.rng.standard_normal(draw.shape)
    if dtype.kind == "c":
        found = found + 1j * draw.rng.standard_normal(draw.shape)
    if style == "special" and found.size:
        flat = found.reshape(-1)
        for value in (np.nan, np.inf, -np.inf, 0.0, -0.0):
            flat[draw.rng.integers(flat.size)] = value
    with np.errstate(all="ignore"):
        return np.asarray(found).astype(dtype)


def _below(draw: Draw, bound: int, _: int) -> np.ndarray:
    return draw.rng.integers(0, max(bound, 1), draw.shape)


def _zeros(draw: Draw, bound: int, total: int) -> np.ndarray:
    return np.zeros(draw.shape or (), np.int64)


def _ones(draw: Draw, bound: int, total: int) -> np.ndarray:
    return np.ones(draw.shape or (), np.int64)


def _sorted(draw: Draw, bound: int, total: int) -> np.ndarray:
    return np.sort(_below(draw, bound, total), axis=-1) if draw.shape else _below(draw, bound, total)


def _permutation(draw: Draw, bound: int, total: int) -> np.ndarray:
    assert draw.shape is not None
    count = int(np.prod(draw.shape))
    return draw.rng.permutation(count).reshape(draw.shape)


def _offsets(draw: Draw, bound: int, total: int) -> np.ndarray:
    """From 0, never falling, to the whole."""
    found = np.asarray(draw.rng.integers(0, total + 1, draw.shape))
    if found.ndim and found.shape[-1]:
        found = np.sort(found, axis=-1)
        found[..., 0], found[..., -1] = 0, total
    return found


def _lengths(draw: Draw, bound: int, total: int) -> np.ndarray:
    """Numbers that add up to the whole."""
    assert draw.shape is not None
    count = int(np.prod(draw.shape))
    cuts = np.sort(draw.rng.integers(0, total + 1, max(count - 1, 0)))
    return np.diff(np.concatenate([[0], cuts, [total]]))[:count].reshape(draw.shape)


def _from_one(draw: Draw, bound: int, total: int) -> np.ndarray:
    return _below(draw, bound, total) + 1


# In the order in which they are tried: the first is within any tensor that the call is given.
INTEGER_STYLES: dict[str, Callable[[Draw, int, int], np.ndarray]] = {
    "below": _below,
    "offsets": _offsets,
    "lengths": _lengths,
    "permutation": _permutation,
    "sorted": _sorted,
    "from one": _from_one,
    "ones": _ones,
    "zeros": _zeros,
}


def tensor(draw: Draw, *, integers: str, floating: str, bound: int, total: int) -> np.ndarray:
    """bound: what an index stays below; total: what offsets and lengths cover."""
    dtype = np.dtype(draw.dtype)
    if dtype.kind == "b":
        return draw.rng.random(draw.shape) < 0.7
    if compare.is_inexact(dtype):
        return floats(draw, floating)
    most = np.iinfo(dtype).max if dtype.kind in "iu" else 7
    return np.asarray(np.minimum(INTEGER_STYLES[integers](draw, bound, total), most)).astype(dtype)


FLOATS = (0.5, 1.0, 1e-3, 1.5, 2.0, 0.0, -1.0)
INTS = (1, 2, 0, 3, 4, -1, 8)


def scalars(parameter: Parameter) -> list[Any]:
    """Possible values of a number, string, dtype or device, or of an item of a list, the likeliest first."""
    import kernpack

    default = [parameter.default] if parameter.has_default and parameter.default is not None else []
    if parameter.is_list and default:
        default = list(parameter.default)
    found: list[Any] = []
    if parameter.kind == "float":
        found = [*default, *FLOATS]
    elif parameter.kind == "int":
        found = [*default, *INTS]
    elif parameter.kind == "bool":
        found = [*default, True, False]
    elif parameter.kind == "str":
        found = [*default, *parameter.choices] or [""]
    elif parameter.kind == "dtype":
        found = [kernpack.DType(name) for name in dict.fromkeys([*default, "f32", "f64", "f16", "i32"])]
    elif parameter.kind == "device":
        found = [kernpack.Device("cpu")]
    return list(dict.fromkeys(found))
