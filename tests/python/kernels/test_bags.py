"""embedding_bag and scatter_sum: rows by index, taken together; and the row of padding, which takes no part."""

import numpy as np
import pytest
import torch
from arrays import DTYPES, assert_close, make
from torch.nn import functional

TORCH = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16}
MODES = ("sum", "mean", "max")
INDICES, OFFSETS = (
    torch.tensor([3, 3, 0, 10, 7, 0, 3, 2]),
    torch.tensor([0, 0, 2, 7, 8]),
)  # the first and the last are empty


def leaf(*shape, dtype="f32", seed=0):
    values = torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
    return values.to(TORCH[dtype]).requires_grad_()


def close(found, expected, dtype):
    assert_close(found.detach(), expected.detach().double().numpy(), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("padding", [-1, 3])
@pytest.mark.parametrize("index_type", [torch.int32, torch.int64])
def test_bags_and_their_gradient_are_torchs(k, dtype, mode, padding, index_type):
    table, d_out = leaf(11, 37, dtype=dtype), leaf(5, 37, dtype=dtype, seed=1).detach()
    wide = table.detach().double().requires_grad_()
    expected = functional.embedding_bag(INDICES, wide, OFFSETS, mode=mode, padding_idx=None if padding < 0 else padding)
    given = INDICES.to(index_type), OFFSETS.to(index_type)
    found = k.embedding_bag(table, *given, mode=mode, padding_idx=padding)
    close(found, expected, dtype)
    (mine,), (theirs,) = torch.autograd.grad(found, table, d_out), torch.autograd.grad(expected, wide, d_out.double())
    close(mine, theirs, dtype)
    assert padding < 0 or not mine[padding].any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("padding", [-1, 0])
def test_weights_multiply_the_rows_and_have_a_gradient(k, dtype, padding):
    table, weights = leaf(11, 37, dtype=dtype), leaf(8, dtype=dtype, seed=2)
    d_out = leaf(5, 37, dtype=dtype, seed=1).detach()
    wide = [t.detach().double().requires_grad_() for t in (table, weights)]
    expected = functional.embedding_bag(
        INDICES,
        wide[0],
        OFFSETS,
        mode="sum",
        per_sample_weights=wide[1],
        padding_idx=None if padding < 0 else padding,
    )
    found = k.embedding_bag(table, INDICES, OFFSETS, weights, padding_idx=padding)
    close(found, expected, dtype)
    mine = torch.autograd.grad(found, (table, weights), d_out)
    for a, b in zip(mine, torch.autograd.grad(expected, wide, d_out.double()), strict=True):
        close(a, b, dtype)


def test_a_nan_is_the_largest_and_gets_the_gradient(k):
    table = torch.tensor([[1.0, 5.0], [float("nan"), 2.0], [9.0, 5.0]], requires_grad=True)
    found = k.embedding_bag(table, torch.tensor([0, 1, 2]), torch.tensor([0]), mode="max")
    np.testing.assert_array_equal(found.detach(), [[np.nan, 5.0]])
    (d_table,) = torch.autograd.grad(found, table, torch.tensor([[2.0, 3.0]]))
    np.testing.assert_array_equal(d_table, [[0, 3], [2, 0], [0, 0]])  # of equals the first


def test_bags_of_nothing_are_zero(k):
    table, none = np.ones((4, 3), np.float32), np.zeros(0, np.int64)
    for mode in MODES:
        assert not k.embedding_bag(table, none, np.array([0, 0]), mode=mode).any()
        assert not k.embedding_bag(table, np.array([2, 2]), np.array([0]), mode=mode, padding_idx=2).any()
        assert k.embedding_bag(table[:, :0].copy(), np.array([1]), np.array([0]), mode=mode).shape == (1, 0)
        found = k.embedding_bag_backward(np.ones((2, 3), np.float32), table, none, np.array([0, 0]), mode=mode)
        assert not found.any()


@pytest.mark.parametrize(
    ("kind", "indices", "offsets", "more", "message"),
    [
        (
            IndexError,
            [0, 4],
            [0],
            {},
            r"indices: element 1 is 4, out of range for a table of 4 rows \(expected 0 to 3\)",
        ),
        (IndexError, [-1, 0], [0], {}, "indices: element 0 is -1, out of range"),
        (
            ValueError,
            [0, 1],
            [1],
            {},
            "offsets: expected the first one to be 0, so that every index is in a segment, got 1",
        ),
        (ValueError, [0, 1], [0, 3], {}, "offsets: element 1 is 3, above the number of indices, 2"),
        (
            ValueError,
            [0, 1],
            [0],
            {"mode": "mean", "weights": True},
            'weights: expected them with mode="sum" only, got',
        ),
        (ValueError, [0, 1], [0], {"mode": "middle"}, "mode: expected"),
    ],
)
def test_bags_that_do_not_fit_are_refused(k, kind, indices, offsets, more, message):
    weights = np.ones(2, np.float32) if more.pop("weights", False) else None
    with pytest.raises(kind, match=message):
        k.embedding_bag(np.ones((4, 3), np.float32), np.array(indices), np.array(offsets), weights, **more)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_the_row_of_padding_gets_no_gradient(k, index_type):
    table, indices = leaf(11, 5), torch.tensor([[3, 3, 0], [10, 3, 7]])
    expected = functional.embedding(indices, table, padding_idx=3)
    found = k.embedding(table, indices, padding_idx=3)
    assert torch.equal(found, expected)
    d_out = torch.randn(2, 3, 5)
    (mine,), (theirs,) = (torch.autograd.grad(out, table, d_out) for out in (found, expected))
    torch.testing.assert_close(mine, theirs)
    assert not mine[3].any()
    _, tangent = torch.func.jvp(lambda t: k.embedding(t, indices, padding_idx=3), (table,), (torch.ones(11, 5),))
    assert torch.equal(tangent, (indices != 3)[..., None].expand(2, 3, 5).float())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_rows_are_added_up_where_their_indices_say(k, dtype, index_type):
    rng = np.random.default_rng(4)
    x, x64 = make(rng.normal(size=(200, 37)), dtype)
    indices = rng.integers(0, 9, 200).astype(index_type)
    expected = np.zeros((12, 37))
    np.add.at(expected, indices, x64)  # rows 9 to 11 have no index
    given = indices if isinstance(x, np.ndarray) else torch.from_numpy(indices)
    assert_close(k.scatter_sum(x, given, rows=12), expected, dtype)


def test_what_cannot_be_scattered_is_refused(k):
    x = np.ones((2, 3), np.float32)
    with pytest.raises(IndexError, match=r"indices: element 1 is 2, out of range for a table of 2 rows"):
        k.scatter_sum(x, np.array([0, 2]), rows=2)
    with pytest.raises(ValueError, match="expected rows >= 0"):
        k.scatter_sum(x, np.array([0, 0]), rows=-1)
    assert k.scatter_sum(x[:0], np.zeros(0, np.int64), rows=0).shape == (0, 3)
