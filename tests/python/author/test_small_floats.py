"""kp::half, kp::bfloat16 and the float8 types convert as ml_dtypes does: every pattern, and every place where rounding turns."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from small_float_types import TYPES, build, call, patterns


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return build(tmp_path_factory.mktemp("small_floats") / "small_floats.so")


def _widen(library: ctypes.CDLL, name: str) -> np.ndarray:
    return call(getattr(library, f"widen_{name}"), patterns(name), dtype=np.float32)


@pytest.mark.parametrize("name", TYPES)
def test_every_pattern_widens(library: ctypes.CDLL, name: str) -> None:
    _assert_widened(name, _widen(library, name))


@pytest.mark.parametrize("name", ["half", "float8_e4m3fn", "float8_e5m2"])
def test_every_pattern_widens_where_subnormal_floats_are_taken_for_zero(library: ctypes.CDLL, name: str) -> None:
    if not library.flush_subnormals(1):
        pytest.skip("how this processor is told to flush subnormal floats isn't known")
    try:
        got = _widen(library, name)
    finally:
        library.flush_subnormals(0)
    _assert_widened(name, got)


def _assert_widened(name: str, got: np.ndarray) -> None:
    expected = patterns(name).view(TYPES[name]).astype(np.float32)
    assert np.array_equal(np.isnan(got), np.isnan(expected))
    number = ~np.isnan(expected)
    assert np.array_equal(got.view(np.uint32)[number], expected.view(np.uint32)[number])


@pytest.mark.parametrize("name", TYPES)
def test_floats_round_to_the_nearest_value(library: ctypes.CDLL, name: str) -> None:
    # The upper halves of all floats, and both neighbours of every value and of every midpoint between two.
    upper = (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)
    finite = np.unique(_widen(library, name))
    finite = finite[np.isfinite(finite)]
    with np.errstate(over="ignore"):
        turns = np.concatenate([finite, (finite[1:] + finite[:-1]) / 2, finite[-1:] * 1.0625, finite[-1:] * 1.125])
    turns = np.concatenate([turns, np.nextafter(turns, np.float32(np.inf)), np.nextafter(turns, np.float32(-np.inf))])
    values = np.ascontiguousarray(np.concatenate([upper, turns]), np.float32)
    with np.errstate(all="ignore"):
        expected = values.astype(TYPES[name])
    nan = np.isnan(expected.astype(np.float32))
    got = call(getattr(library, f"narrow_{name}"), values, dtype=patterns(name).dtype)
    assert np.array_equal(np.isnan(got.view(expected.dtype).astype(np.float32)), nan)
    assert np.array_equal(got[~nan], expected.view(got.dtype)[~nan])
