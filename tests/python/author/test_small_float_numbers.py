"""kp::half, kp::bfloat16 and the float8 types as numbers, against NumPy, ml_dtypes and their own neighbours."""

from __future__ import annotations

import ctypes

import ml_dtypes
import numpy as np
import pytest
from small_float_types import TYPES, build, call, patterns


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return build(tmp_path_factory.mktemp("small_float_numbers") / "small_floats.so")


def _values(name: str) -> np.ndarray:
    return patterns(name).view(TYPES[name])


@pytest.mark.parametrize("name", TYPES)
def test_every_value_passes_through_float_unchanged(library: ctypes.CDLL, name: str) -> None:
    wide = call(getattr(library, f"widen_{name}"), patterns(name), dtype=np.float32)
    back = call(getattr(library, f"narrow_{name}"), wide, dtype=patterns(name).dtype)
    assert np.array_equal(back, patterns(name)), "the payloads of NaNs too"


@pytest.mark.parametrize("name", TYPES)
def test_a_float_nan_stays_a_nan_of_its_sign(library: ctypes.CDLL, name: str) -> None:
    payloads = np.array([1, 2, 0x1FFF, 0x2000, 0x3FFFFF, 0x400000, 0x400001, 0x7FFFFF], np.uint32)
    nans = np.concatenate([payloads | 0x7F800000, payloads | 0xFF800000]).view(np.float32)
    got = call(getattr(library, f"narrow_{name}"), nans, dtype=patterns(name).dtype).view(TYPES[name])
    assert np.isnan(got.astype(np.float32)).all()
    assert np.array_equal(np.signbit(got), np.signbit(nans))


def _nearest(name: str, exact: np.ndarray) -> np.ndarray:
    """The bits of the values nearest to these numbers, ties to even: found between the midpoints of neighbours, all of which
    long double holds exactly."""
    finite = patterns(name)[: len(patterns(name)) // 2]
    with np.errstate(invalid="ignore"):  # signalling NaNs
        numbers = finite.view(TYPES[name]).astype(np.longdouble)
    count = int(np.isfinite(numbers).sum())
    numbers = numbers[:count]
    beyond = 2 * numbers[-1] - numbers[-2]  # where the next one would be, rounds to infinity or NaN
    turns = (np.append(numbers[1:], beyond) + numbers) / 2
    magnitude = np.abs(exact.astype(np.longdouble))
    below = np.searchsorted(turns, magnitude, "left")
    tie = (below < count) & (turns[np.minimum(below, count - 1)] == magnitude)
    index = below + (tie & (below % 2 == 1))
    sign = np.where(np.signbit(exact.astype(np.longdouble)), len(patterns(name)) // 2, 0)
    return (finite[index] | sign).astype(finite.dtype)


def _around_turns(name: str) -> np.ndarray:
    """Midpoints of neighbours and the doubles beside them, which differ from them in places that float doesn't have."""
    with np.errstate(invalid="ignore"):
        values = np.unique(_values(name).astype(np.float64))
    values = values[np.isfinite(values)]
    turns = np.concatenate([values, (values[1:] + values[:-1]) / 2, values[-1:] * 1.03125, values[-1:] * 1.0625])
    beside = [np.nextafter(turns, np.inf), np.nextafter(turns, -np.inf)]
    return np.concatenate([turns, *beside, [1e300, -1e300, np.inf, -np.inf, 5e-324, -1e-300]])


@pytest.mark.parametrize("name", TYPES)
def test_doubles_are_rounded_once(library: ctypes.CDLL, name: str) -> None:
    exact = _around_turns(name)
    got = call(getattr(library, f"from_f64_{name}"), exact, dtype=patterns(name).dtype)
    expected = _nearest(name, exact)
    assert np.array_equal(got, expected)
    nan = call(getattr(library, f"from_f64_{name}"), np.array([np.nan]), dtype=patterns(name).dtype)
    assert np.isnan(nan.view(TYPES[name]).astype(np.float32)).all()


@pytest.mark.parametrize("integer", ["i64", "u64", "i32", "i16"])
@pytest.mark.parametrize("name", TYPES)
def test_integers_are_rounded_once(library: ctypes.CDLL, name: str, integer: str) -> None:
    dtype = np.dtype(integer[0] + str(int(integer[1:]) // 8))
    ends = np.iinfo(dtype)
    powers = [1 << bit for bit in range(int(integer[1:]) + 1)]
    halves = [p + p // 2**k + odd for p in powers for k in range(1, 14) for odd in (-1, 0, 1)]
    every = {sign * n for n in (*powers, *halves, *range(300)) for sign in (1, -1)} | {int(ends.min), int(ends.max)}
    exact = np.array(sorted(n for n in every if ends.min <= n <= ends.max), dtype)
    got = call(getattr(library, f"from_{integer}_{name}"), exact, dtype=patterns(name).dtype)
    assert np.array_equal(got, _nearest(name, exact))


def _pairs(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of 8-bit values; of 16-bit ones each value with eight others."""
    every = _values(name)
    if len(every) == 256:
        return np.repeat(every, 256), np.tile(every, 256)
    others = np.random.default_rng(0).permuted(np.tile(every, (8, 1)), axis=1)
    return np.tile(every, 8), others.reshape(-1)


@pytest.mark.parametrize("name", TYPES)
def test_arithmetic_is_that_of_numpy(library: ctypes.CDLL, name: str) -> None:
    a, b = _pairs(name)
    got = call(getattr(library, f"arithmetic_{name}"), a, b, shape=(8, a.size), dtype=a.dtype)
    with np.errstate(all="ignore"):
        expected = np.stack([a + b, a - b, a * b, a / b])
    for rows in (got[:4], got[4:]):
        nan = np.isnan(expected.astype(np.float32))
        assert np.array_equal(np.isnan(rows.astype(np.float32)), nan)
        bits = patterns(name).dtype
        assert np.array_equal(rows.view(bits)[~nan], expected.view(bits)[~nan])


@pytest.mark.parametrize("name", TYPES)
def test_comparisons_and_classes_are_those_of_floats(library: ctypes.CDLL, name: str) -> None:
    a, b = _pairs(name)
    got = call(getattr(library, f"compare_{name}"), a, b, dtype=np.int32)
    x, y = a.astype(np.float32), b.astype(np.float32)
    classes = [np.isnan(x), np.isinf(x), np.isfinite(x), np.signbit(x)]
    always = np.ones_like(x, bool)
    bits = [x < y, x <= y, x == y, x != y, *classes, *classes, x > y, x >= y, always, always]
    assert np.array_equal(got, sum(np.left_shift(bit, place, dtype=np.int32) for place, bit in enumerate(bits)))


@pytest.mark.parametrize("name", TYPES)
def test_limits_are_those_of_ml_dtypes(library: ctypes.CDLL, name: str) -> None:
    out = (ctypes.c_double * 18)()
    getattr(library, f"limits_{name}")(out)
    info = ml_dtypes.finfo(TYPES[name])
    lowest = [float(v) for v in (info.smallest_normal, info.max, info.min, info.eps, info.smallest_subnormal)]
    assert list(out)[:6] == [*lowest, 0.5]
    assert np.isnan(out[6])
    digits, digits10, max_digits10, low, high, low10, high10, infinite, specialised = map(int, list(out)[7:16])
    assert (digits, low, high, specialised) == (info.nmant + 1, info.minexp + 1, info.maxexp, 1)
    decimal = np.log10(2)
    assert (digits10, max_digits10) == (int(info.nmant * decimal), int(np.ceil(digits * decimal + 1)))
    assert (low10, high10) == (np.ceil(np.log10(lowest[0])), np.floor(np.log10(lowest[1])))
    assert infinite == (name != "float8_e4m3fn")
    assert not infinite or (out[16] == np.inf and np.isnan(out[17]))


@pytest.mark.parametrize("name", TYPES)
def test_equal_values_have_equal_hashes(library: ctypes.CDLL, name: str) -> None:
    hashes = getattr(library, f"hash_{name}")
    hashes.restype = ctypes.c_size_t
    found = [hashes(int(bits)) for bits in patterns(name)]
    assert found[0] == found[len(found) // 2], "0 and -0"
    assert len(set(found)) == len(found) - 1


@pytest.mark.parametrize("name", TYPES)
def test_streams_and_error_texts_show_the_number(library: ctypes.CDLL, name: str) -> None:
    text = ctypes.create_string_buffer(64)
    value = np.array([1.5], TYPES[name])
    getattr(library, f"print_{name}")(ctypes.c_void_p(value.ctypes.data), text)
    assert text.value == b"1.5 1.5"
