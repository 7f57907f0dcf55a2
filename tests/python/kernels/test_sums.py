"""cumsum and segment_sum."""

import numpy as np
import pytest
import torch
from arrays import DTYPES, assert_close, get_values, make


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reverse", [False, True])
def test_partial_sums_are_rounded_once(k, dtype, reverse):
    x, x64 = make(np.random.default_rng(1).normal(size=(3, 4, 1001)), dtype)
    turned = x64[..., ::-1] if reverse else x64
    expected = np.cumsum(turned, -1)
    assert_close(k.cumsum(x, reverse=reverse), expected[..., ::-1] if reverse else expected, dtype)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (1,), (2, 1)], ids=str)
def test_partial_sums_of_little(k, shape):
    x = np.random.default_rng(2).normal(size=shape).astype(np.float32)
    np.testing.assert_array_equal(k.cumsum(x), np.cumsum(x, -1))


def test_what_isnt_a_number_stays_so_in_what_follows(k):
    x = np.array([1, np.inf, 2, -np.inf, 3], np.float32)
    np.testing.assert_array_equal(k.cumsum(x), [1, np.inf, np.inf, np.nan, np.nan])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_segments_are_added_up(k, dtype, index_type):
    x, x64 = make(np.random.default_rng(3).normal(size=(50, 37)), dtype)
    begins = np.array([0, 0, 3, 17, 17, 49, 50], index_type)  # the first, the fifth and the last are empty
    given = begins if isinstance(x, np.ndarray) else torch.from_numpy(begins)
    expected = [x64[a:b].sum(0) for a, b in zip(begins, [*begins[1:], 50], strict=True)]
    found = k.segment_sum(x, given)
    assert_close(found, np.array(expected), dtype)
    assert not np.asarray(get_values(found))[[0, 3, 6]].any()


def test_segments_of_an_embedding_are_its_bags(k):
    table, indices = torch.randn(11, 5, dtype=torch.float64), torch.tensor([3, 3, 0, 10, 7])
    begins = torch.tensor([0, 2, 2])
    found = k.segment_sum(k.embedding(table, indices), begins)
    torch.testing.assert_close(found, torch.nn.functional.embedding_bag(indices, table, begins, mode="sum"))


def test_segments_of_nothing_are_zero(k):
    assert not k.segment_sum(np.ones((0, 3), np.float32), np.array([0, 0])).any()
    assert k.segment_sum(np.ones((4, 0), np.float32), np.array([0, 2])).shape == (2, 0)


@pytest.mark.parametrize(
    ("begins", "message"),
    [
        ([1, 2], "offsets: expected the first one to be 0, so that every row of x is in a segment, got 1"),
        ([0, 3, 2], "offsets: element 1 is 3, above the next one, 2: expected ascending numbers up to 4"),
        ([0, 5], "offsets: element 1 is 5, above the number of rows of x, 4: expected ascending numbers up to 4"),
        ([0, -1], "offsets: element 0 is 0, above the next one, -1: expected ascending numbers up to 4"),
        ([], "segment_sum: expected S > 0, got S = 0"),
    ],
)
def test_segments_that_do_not_fit_are_refused(k, begins, message):
    with pytest.raises(ValueError, match=message):
        k.segment_sum(np.ones((4, 3), np.float32), np.array(begins, np.int64))
    if begins:
        with pytest.raises(ValueError, match="offsets: "):
            k.segment_sum_backward(
                np.ones((len(begins), 3), np.float32), np.ones((4, 3), np.float32), np.array(begins, np.int64)
            )
