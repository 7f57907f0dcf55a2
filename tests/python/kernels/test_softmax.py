import numpy as np
import pytest
import reference
import torch
from arrays import DTYPES, assert_close, get_values, make

SHAPES = [(1, 384), (7, 37), (2, 3, 4, 5), (1,), (3, 1), (2, 5000), (200, 384)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_agrees_with_the_reference_at_every_shape(k, shape, dtype):
    x, x64 = make(np.random.default_rng(1).normal(0, 5, shape), dtype)
    assert_close(k.softmax(x), reference.softmax(x64), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mask_shape", [(2, 1, 1, 21), (1, 1, 5, 21), (2, 3, 5, 21), (1, 1, 1, 21)], ids=str)
def test_masks_of_every_shape_broadcast(k, mask_shape, dtype):
    rng = np.random.default_rng(2)
    x, x64 = make(rng.normal(size=(2, 3, 5, 21)), dtype)
    kept = rng.random(mask_shape) < 0.7
    added, added64 = make(rng.normal(size=mask_shape), dtype)
    if isinstance(x, torch.Tensor):
        assert_close(k.softmax(x, torch.from_numpy(kept)), reference.softmax(x64, kept), dtype)
    else:
        assert_close(k.softmax(x, kept), reference.softmax(x64, kept), dtype)
    assert_close(k.softmax(x, added), reference.softmax(x64, added64), dtype)


@pytest.mark.parametrize("mask_type", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_mask_of_another_dtype(k, dtype, mask_type):
    x = np.random.default_rng(3).normal(size=(4, 19)).astype(dtype)
    mask = np.where(np.arange(19) < 11, 0, -np.inf).astype(mask_type)[None]
    assert_close(k.softmax(x, mask), reference.softmax(x.astype(np.float64), mask.astype(np.float64)), "f16")


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_with_nothing_kept_are_zeros(k, dtype):
    x, _ = make(np.full((2, 40), -np.inf), dtype)
    assert not get_values(k.softmax(x)).any()


def test_infinities_give_what_the_formula_gives(k):
    x = np.array([[np.inf, 0, 1], [-np.inf, 0, 0], [-1e30, 0, 1e30]], np.float32)
    out = k.softmax(x)
    assert np.isnan(out[0]).any()  # inf - inf has no value
    assert out[1].tolist() == [0, 0.5, 0.5]
    assert out[2].tolist() == [0, 0, 1]


def test_a_boolean_mask_hides_nan_and_an_added_one_does_not(k):
    x = np.array([[np.nan, 1, 1]], np.float32)
    assert k.softmax(x, np.array([[False, True, True]])).tolist() == [[0, 0.5, 0.5]]
    assert np.isnan(k.softmax(x, np.array([[-np.inf, 0, 0]], np.float32))).all()
