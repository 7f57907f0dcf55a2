import numpy as np
import pytest
import reference
import torch
from arrays import DTYPES, assert_close, make


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("shape", [(4,), (2, 3), (0,), (2, 0), ()], ids=str)
def test_look_up(k, shape, index_type):
    table = np.random.default_rng(1).normal(size=(11, 7)).astype(np.float32)
    indices = np.random.default_rng(2).integers(0, 11, shape).astype(index_type)
    np.testing.assert_array_equal(k.embedding(table, np.asarray(indices)), table[indices])


@pytest.mark.parametrize("bad", [11, -1, 2**40])
def test_an_index_out_of_range_is_named(k, bad):
    with pytest.raises(IndexError, match=rf"element 2 is {bad}, out of range for a table of 11 rows"):
        k.embedding(np.zeros((11, 7), np.float32), np.array([0, 1, bad]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mask_type", [bool, np.int32, np.int64])
def test_mean_pool(k, dtype, mask_type):
    rng = np.random.default_rng(3)
    x, x64 = make(rng.normal(size=(5, 9, 37)), dtype)
    mask = (rng.random((5, 9)) < 0.5).astype(mask_type)
    mask[2] = 0
    given = mask if isinstance(x, np.ndarray) else torch.from_numpy(mask)
    out = k.mean_pool(x, given)
    assert_close(out, reference.mean_pool(x64, mask), dtype)


def test_mean_pool_of_nothing_is_zero(k):
    assert not k.mean_pool(np.zeros((2, 0, 3), np.float32), np.zeros((2, 0), bool)).any()
