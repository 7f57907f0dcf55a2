"""The buffer protocol, whose exporters may leave out shape, strides and format, and say what isn't so."""

from __future__ import annotations

import ctypes
from array import array
from typing import Any

import kernpack
import numpy as np
import pytest
from exporter import exporter


def _floats(count: int) -> bytearray:
    return bytearray(np.arange(count, dtype=np.float32).tobytes())


def test_ctypes_arrays_have_no_strides(k: Any) -> None:
    np.testing.assert_array_equal(k.scale((ctypes.c_float * 3)(1, 2, 3)), [2, 4, 6])
    table = ((ctypes.c_float * 2) * 3)((1, 2), (3, 4), (5, 6))
    np.testing.assert_array_equal(k.scale(table), [[2, 4], [6, 8], [10, 12]])
    assert kernpack.from_dlpack(table).shape == (3, 2)
    k.bump(row := (ctypes.c_float * 2)(1, 2))
    assert list(row) == [2, 3]
    k.touch(table)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (ctypes.c_double(1.5), "f64"),
        ((ctypes.c_int8 * 2)(), "i8"),
        ((ctypes.c_uint64 * 2)(), "u64"),
        ((ctypes.c_longlong * 2)(), "i64"),
        ((ctypes.c_bool * 2)(), "bool"),
        (array("l", [1]), "i64"),
        (memoryview(b"bytes"), "u8"),
    ],
)
def test_each_number_of_c_has_its_dtype(value: Any, dtype: str) -> None:
    assert str(kernpack.from_dlpack(value).dtype) == dtype


@pytest.mark.parametrize("convert", ["scale", "from_dlpack", "touch"])
@pytest.mark.parametrize(
    ("fields", "shape"),
    [
        ({}, (6,)),  # neither shape nor strides: one row
        ({"shape": (6,)}, (6,)),
        ({"ndim": 2, "shape": (2, 3)}, (2, 3)),
        ({"ndim": 2, "shape": (2, 3), "strides": (12, 4), "suboffsets": (-1, -1)}, (2, 3)),
        ({"ndim": 2, "shape": (3, 2), "strides": (8, 4)}, (3, 2)),
        ({"ndim": 2, "shape": (1, 6), "strides": (7, 4)}, (1, 6)),  # no step is ever taken along the first
        ({"ndim": 0, "length": 4}, ()),
        ({"ndim": 1, "shape": (0,), "length": 0}, (0,)),
    ],
)
def test_optional_fields_may_be_missing(k: Any, convert: str, fields: dict[str, Any], shape: tuple[int, ...]) -> None:
    made = exporter(_floats(6), **fields)
    if convert == "touch":
        k.touch(made)
        return
    got = k.scale(made) if convert == "scale" else kernpack.from_dlpack(made)
    assert tuple(got.shape) == shape
    count = int(np.prod(shape))
    expected = np.arange(count, dtype=np.float32) * (2 if convert == "scale" else 1)
    np.testing.assert_array_equal(np.asarray(got).ravel(), expected)


@pytest.mark.parametrize("convert", ["scale", "from_dlpack", "touch"])
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"itemsize": 0}, "a buffer of numbers in native byte order"),
        ({"itemsize": -4}, "a buffer of numbers in native byte order"),
        ({"itemsize": 3}, "a buffer of numbers in native byte order"),
        ({"format": None}, "a buffer of numbers in native byte order"),  # bytes, of 4 bytes each
        ({"format": b""}, "a buffer of numbers in native byte order"),
        ({"format": b"Z"}, "a buffer of numbers in native byte order"),
        ({"format": b"Zi", "itemsize": 8}, "a buffer of numbers in native byte order"),
        ({"format": b">f"}, "a buffer of numbers in native byte order"),
        ({"format": b"ff", "itemsize": 8}, "a buffer of numbers in native byte order"),
        ({"format": b"T{f:x:}"}, "a buffer of numbers in native byte order"),
        ({"ndim": 2}, "a buffer of 0 to 64 dims with a shape"),
        ({"ndim": -1}, "a buffer of 0 to 64 dims with a shape"),
        ({"ndim": 65, "shape": (1,) * 65}, "a buffer of 0 to 64 dims with a shape"),
        ({"shape": (7,)}, "a buffer that is as long as its shape says"),
        ({"ndim": 2, "shape": (2**40, 2**40)}, "a buffer that is as long as its shape says"),
        ({"shape": (-1,)}, "as long as its shape says"),
        ({"ndim": 2, "shape": (-1, -3)}, r"shape\[0\] is -1"),
        ({"ndim": 2, "shape": (2, 3), "strides": (13, 4)}, "strides that are multiples of the element size"),
        ({"ndim": 2, "shape": (2, 3), "strides": (2**62, 2**62)}, "leave the address space|overflows"),
        ({"ndim": 2, "shape": (2, 3), "suboffsets": (0, -1)}, "a buffer without suboffsets"),
        ({"length": -24}, "as long as its shape says"),
    ],
)
def test_what_makes_no_sense_is_refused(k: Any, convert: str, fields: dict[str, Any], expected: str) -> None:
    made = exporter(_floats(6), **fields)
    call = kernpack.from_dlpack if convert == "from_dlpack" else getattr(k, convert)
    with pytest.raises((TypeError, ValueError), match=expected):
        call(made)


def test_memory_that_is_null_is_refused(k: Any) -> None:
    for call in (k.scale, kernpack.from_dlpack, k.touch):
        with pytest.raises(ValueError, match="data is NULL"):
            call(exporter(None, shape=(6,), length=24))


def test_a_read_only_buffer_stays_so(k: Any) -> None:
    made = exporter(_floats(3), readonly=True)
    with pytest.raises(ValueError, match="bump: x: expected a writeable buffer"):
        k.bump(made)
    assert kernpack.from_dlpack(made).read_only
    assert not kernpack.from_dlpack(exporter(_floats(3))).read_only
