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


BYTES = np.zeros(256, dtype=np.float32)


def _make_rows(start: int, *, backwards: bool = False) -> np.ndarray:
    rows = BYTES[start : start + 32].reshape(4, 8)
    return rows[::-1] if backwards else rows


@pytest.mark.parametrize(
    "make",
    [lambda x: x, torch.from_numpy, kernpack.from_dlpack],
    ids=["numpy", "torch", "own"],
)
def test_what_is_written_overlaps_nothing_in_any_call(k, make):
    alone = np.ones(8, dtype=np.float32)
    for _ in range(2):
        for start in (64, 96):
            k.add_rows(make(_make_rows(start)), make(BYTES[:8]))
            k.add_rows(make(_make_rows(start)), make(alone))
            for w in (start - 7, start, start + 31):  # the last and the first bytes, and inside
                with pytest.raises(ValueError, match=r"add_rows: a: expected memory of its own .*overlaps w"):
                    k.add_rows(make(_make_rows(start)), make(BYTES[w : w + 8]))
            for w in (start - 8, start + 32):  # neighbours
                k.add_rows(make(_make_rows(start)), make(BYTES[w : w + 8]))


def test_written_backwards_overlaps_nothing_in_any_call(k):
    for _ in range(2):
        for start in (64, 96):
            k.add_rows(_make_rows(start, backwards=True), BYTES[:8])
            k.add_rows(_make_rows(start, backwards=True), BYTES[start + 32 : start + 40])
            for w in (start - 7, start, start + 31):
                with pytest.raises(ValueError, match=r"add_rows: a: expected memory of its own .*overlaps w"):
                    k.add_rows(_make_rows(start, backwards=True), BYTES[w : w + 8])
            k.add_rows(_make_rows(start, backwards=True), BYTES[start - 8 : start])


def test_every_write_counts_and_what_is_read_only_is_refused_in_any_call(k):
    a, w = np.zeros((4, 8), dtype=np.float32), W
    frozen = a.copy()
    frozen.flags.writeable = False
    t = torch.zeros(4, 8)
    for n in range(1, 4):
        k.add_rows(a, w)
        np.testing.assert_array_equal(a, np.full((4, 8), n))
        with pytest.raises(ValueError, match=r"add_rows: a: expected a writeable array"):
            k.add_rows(frozen, w)
        version = t._version
        k.add_rows(t, torch.ones(8))
        assert t._version == version + 1
    assert not frozen.any()
