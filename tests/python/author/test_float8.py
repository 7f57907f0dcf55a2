"""kp::float8_e4m3fn and kp::float8_e5m2 convert as ml_dtypes does: every pattern, and every place where rounding turns."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from support.host import INCLUDE

TYPES = ["float8_e4m3fn", "float8_e5m2"]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("float8") / "float8.so"
    source = Path(__file__).with_name("float8.cc")
    command = ["g++", "-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{INCLUDE}", source]
    subprocess.run([*command, "-o", path], check=True)
    return ctypes.CDLL(str(path))


def _call(function, source: np.ndarray, target: type) -> np.ndarray:
    out = np.empty(source.shape, target)
    function(ctypes.c_void_p(source.ctypes.data), ctypes.c_void_p(out.ctypes.data), ctypes.c_long(source.size))
    return out


def _widen(library: ctypes.CDLL, name: str) -> np.ndarray:
    return _call(getattr(library, f"widen_{name}"), np.arange(256, dtype=np.uint8), np.float32)


@pytest.mark.parametrize("name", TYPES)
def test_every_pattern_widens(library: ctypes.CDLL, name: str) -> None:
    expected = np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, name)).astype(np.float32)
    got = _widen(library, name)
    assert np.array_equal(np.isnan(got), np.isnan(expected))
    number = ~np.isnan(expected)
    assert np.array_equal(got.view(np.uint32)[number], expected.view(np.uint32)[number])


@pytest.mark.parametrize("name", TYPES)
def test_rounding(library: ctypes.CDLL, name: str) -> None:
    # The upper halves of all floats, and both neighbours of every value and of every midpoint between two.
    upper = (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)
    finite = np.unique(_widen(library, name))
    finite = finite[np.isfinite(finite)]
    turns = np.concatenate([finite, (finite[1:] + finite[:-1]) / 2, finite[-1:] * 1.0625, finite[-1:] * 1.125])
    turns = np.concatenate([turns, np.nextafter(turns, np.float32(np.inf)), np.nextafter(turns, np.float32(-np.inf))])
    values = np.ascontiguousarray(np.concatenate([upper, turns]), np.float32)
    with np.errstate(all="ignore"):
        expected = values.astype(getattr(ml_dtypes, name))
    nan = np.isnan(expected.astype(np.float32))
    got = _call(getattr(library, f"narrow_{name}"), values, np.uint8)
    assert np.array_equal(np.isnan(got.view(expected.dtype).astype(np.float32)), nan)
    assert np.array_equal(got[~nan], expected.view(np.uint8)[~nan])
