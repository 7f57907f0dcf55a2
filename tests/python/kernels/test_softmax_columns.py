"""softmax_columns: over the dimension before the last."""

import numpy as np
import pytest
import reference
import torch
from arrays import DTYPES, assert_close, make

# Whole blocks of vectors, one vector and a rest; more columns than a thread takes; more rows than are added up in one go.
SHAPES = ((1, 1, 1), (3, 5, 7), (2, 40, 133), (4, 9, 300), (1, 2100, 3), (5, 600))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_columns_and_their_gradient(k, dtype, shape):
    rng = np.random.default_rng(1)
    x, x64 = make(5 * rng.normal(size=shape), dtype)
    expected = reference.softmax(np.ascontiguousarray(x64.swapaxes(-1, -2))).swapaxes(-1, -2)
    assert_close(k.softmax_columns(x), expected, dtype)
    probs, p64 = make(np.ascontiguousarray(expected), dtype)
    d, d64 = make(rng.normal(size=shape), dtype)
    dot = (d64 * p64).sum(-2, keepdims=True, dtype=np.longdouble).astype(float)
    assert_close(k.softmax_columns_backward(d, probs), (d64 - dot) * p64, dtype)
    assert_close(k.softmax_columns_jvp(d, probs), (d64 - dot) * p64, dtype)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 2, 3), (2, 0, 3)], ids=str)
def test_columns_of_nothing(k, shape):
    assert k.softmax_columns(np.ones(shape, np.float32)).shape == shape


@pytest.mark.parametrize("columns", [1, 40])
def test_infinities_and_what_isnt_a_number_stay_in_their_column(k, columns):
    x = np.zeros((4, columns + 3), np.float32)
    x[:, 0], x[1, 1], x[2, 2] = -np.inf, np.nan, 3e38
    found = k.softmax_columns(x)
    assert not found[:, 0].any()
    assert np.isnan(found[:, 1]).all()
    np.testing.assert_array_equal(found[:, 2], [0, 0, 1, 0])
    np.testing.assert_array_equal(found[:, 3:], 0.25)


def test_a_sum_that_overflows_does_not_spoil_a_gradient(k):
    d, probs = np.full((2, 1), 3e38, np.float32), np.array([[0.5], [0.5]], np.float32)
    np.testing.assert_array_equal(k.softmax_columns_backward(d, probs), 0)


def test_the_same_bits_on_any_number_of_threads(k):
    x, before = torch.randn(3, 200, 700), torch.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3, 8):
            torch.set_num_threads(threads)
            results.append(k.softmax_columns(x))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(result, results[0]) for result in results)
