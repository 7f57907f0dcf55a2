"""A call that looks like the one before it is not checked again; whatever differs must still be noticed."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable

import kernpack
import numpy as np
import pytest
import torch
from producer import Producer

A = np.ones((4, 8), dtype=np.float32)
W = np.ones(8, dtype=np.float32)


def _misaligned() -> np.ndarray:
    return np.frombuffer(bytearray(8 * 4 + 1), dtype=np.uint8)[1:].view(np.float32)


ROWS: dict[str, tuple[Callable[[], tuple[object, object]], str]] = {
    "extent": (lambda: (A, W[:7].copy()), r"rows: w: expected shape \[D\] with D = 8"),
    "rank": (lambda: (A, np.ones((8, 1), dtype=np.float32)), r"rows: w: expected shape \[D\]"),
    "dtype": (lambda: (A, W.astype(np.float64)), r"rows: w: expected dtype T = f32"),
    "dtype of another kind": (lambda: (A, W.view(np.int32)), r"rows: w: expected dtype T = f32"),
    "strides": (lambda: (A, np.ones(16, dtype=np.float32)[::2]), r"rows: w: expected a contiguous tensor"),
    "order": (lambda: (np.asfortranarray(A), W), r"rows: a: expected a contiguous tensor"),
    "alignment": (lambda: (A, _misaligned()), r"rows: w: expected .*aligned"),
    "alignment, own tensor": (
        lambda: (kernpack.from_dlpack(A), kernpack.from_dlpack(memoryview(_misaligned()))),
        r"rows: w: expected .*aligned",
    ),
    "no tensor": (lambda: (A, 1.0), r"rows: w: expected a tensor"),
    "None": (lambda: (A, None), r"rows: w: expected a tensor"),
    "torch, extent": (lambda: (torch.ones(4, 8), torch.ones(7)), r"rows: w: expected shape \[D\]"),
    "torch, strides": (lambda: (torch.ones(8, 4).T, torch.ones(8)), r"rows: a: expected a contiguous tensor"),
}


@pytest.mark.parametrize("row", ROWS)
def test_what_differs_is_checked(k, row):
    make, text = ROWS[row]
    for _ in range(2):
        k.rows(A, W)
        k.rows(A, W)
        with pytest.raises((TypeError, ValueError), match=text):
            k.rows(*make())
    k.rows(A, W)


def test_frameworks_may_take_turns(k):
    for _ in range(3):
        k.rows(A, W)
        k.rows(torch.ones(4, 8), torch.ones(8))
        k.rows(A.astype(np.float64), W.astype(np.float64))
        k.rows(kernpack.from_dlpack(A), torch.ones(8))


def test_values_are_those_of_the_call(k):
    x = np.ones(3, dtype=np.float32)
    for factor in (2.0, 3.0, 2.0, -0.0, 0.0, 5):
        np.testing.assert_array_equal(k.scale(x, f=factor), factor * x)
    results = [k.scale(x * n) for n in range(4)]
    np.testing.assert_array_equal(results, np.outer(2 * np.arange(4), x))
    assert len({result.ctypes.data for result in results}) == 4


def test_empty_and_full_take_turns(k):
    for shape in ((0, 4), (2, 4), (0, 4), (2, 0), (2, 4)):
        assert k.scale(np.ones(shape, dtype=np.float32)).shape == shape
        assert k.scale(torch.ones(shape)).stride() == torch.ones(shape).stride()


def test_a_call_inside_the_allocation_of_a_result(k, monkeypatch):
    """The allocator is Python here, and calls the same function with another shape."""
    module = types.ModuleType("nested_framework")

    class Array(Producer):
        pass

    def empty(shape: tuple[int, ...], dtype: object) -> Array:
        assert k.scale(np.ones((5, 7), dtype=np.float32)).shape == (5, 7)
        return Array(np.empty(shape, dtype=np.float32))

    Array.__module__ = module.__name__
    module.empty = empty
    module.from_dlpack = np.from_dlpack
    monkeypatch.setitem(sys.modules, module.__name__, module)
    x = Array(np.ones((2, 3), dtype=np.float32))
    for _ in range(3):
        y = k.scale(x)
        np.testing.assert_array_equal(y.array, np.full((2, 3), 2.0))
