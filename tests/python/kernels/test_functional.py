"""kernpack_kernels.torch.functional: the arguments, results and gradients of PyTorch's own functions."""

from __future__ import annotations

import pytest
import torch
from kernpack_kernels.torch import functional as kf
from torch.nn import functional

INDICES = torch.tensor([[3, 1, 0], [10, 1, 7]])


def leaf(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)), requires_grad=True)


def same(ours, theirs, *inputs):
    torch.testing.assert_close(ours, theirs)
    d_out = torch.randn(theirs.shape)
    pairs = zip(torch.autograd.grad(ours, inputs, d_out), torch.autograd.grad(theirs, inputs, d_out), strict=True)
    for mine, expected in pairs:
        torch.testing.assert_close(mine, expected)


@pytest.mark.parametrize("dim", [-4, -3, -2, -1, 0, 1, 2, 3])
def test_softmax_over_any_dimension(dim):
    x = leaf(2, 3, 4, 5)
    same(kf.softmax(x, dim), functional.softmax(x, dim), x)
    turned = x.transpose(1, 3)
    same(kf.softmax(turned, dim), functional.softmax(turned, dim), x)
    assert kf.softmax(torch.zeros(2, 0, 4, 5), dim).shape == (2, 0, 4, 5)


@pytest.mark.parametrize("dim", [-3, 2])
def test_a_dimension_that_there_isnt_is_refused(dim):
    with pytest.raises(IndexError, match=f"softmax: dim: expected -2 to 1 for a tensor of 2 dims, got {dim}"):
        kf.softmax(leaf(2, 3), dim)


@pytest.mark.parametrize("padding", [None, 1, -1, -11])
def test_embedding(padding):
    table = leaf(11, 5)
    same(kf.embedding(INDICES, table, padding), functional.embedding(INDICES, table, padding), table)


def test_a_padding_index_outside_the_table_is_refused():
    with pytest.raises(ValueError, match="padding_idx: expected -11 to 10 for a table of 11 rows, got 11"):
        kf.embedding(INDICES, leaf(11, 5), 11)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 1, -1])
def test_bags_by_row_and_by_offset(mode, padding):
    table, flat = leaf(11, 5), INDICES.flatten()
    options = {"mode": mode, "padding_idx": padding}
    same(kf.embedding_bag(INDICES, table, **options), functional.embedding_bag(INDICES, table, **options), table)
    for offsets, last in ((torch.tensor([0, 2, 2]), False), (torch.tensor([0, 2, 6]), True)):
        more = {"offsets": offsets, "include_last_offset": last, **options}
        same(kf.embedding_bag(flat, table, **more), functional.embedding_bag(flat, table, **more), table)


def test_bags_with_weights():
    table, weights = leaf(11, 5), leaf(2, 3)
    options = {"mode": "sum", "per_sample_weights": weights}
    same(
        kf.embedding_bag(INDICES, table, **options), functional.embedding_bag(INDICES, table, **options), table, weights
    )


def test_bags_without_an_end_are_refused():
    with pytest.raises(ValueError, match="offsets: expected them where the indices are a list, got None"):
        kf.embedding_bag(INDICES.flatten(), leaf(11, 5))
    with pytest.raises(ValueError, match="offsets: expected None where the indices are a matrix"):
        kf.embedding_bag(INDICES, leaf(11, 5), torch.tensor([0]))


@pytest.mark.parametrize("activation", [None, "silu", "swish"])
@pytest.mark.parametrize("channels_last", [True, False])
def test_causal_convolution(activation, channels_last):
    weight, bias, state = leaf(6, 4), leaf(6), leaf(2, 6, 3)
    x = torch.randn(2, 9, 6).transpose(1, 2).requires_grad_() if channels_last else leaf(2, 6, 9)
    rows = functional.conv1d(torch.cat([state, x], -1), weight[:, None], bias, groups=6)
    expected = rows if activation is None else functional.silu(rows)
    found = kf.causal_conv1d(x, weight, bias, state, activation)
    same(found, expected, x, weight, bias, state)
    assert found.transpose(1, 2).is_contiguous()


def test_an_activation_that_there_isnt_is_refused():
    with pytest.raises(ValueError, match='activation: expected None, "silu" or "swish", got \'gelu\''):
        kf.causal_conv1d(leaf(2, 6, 9), leaf(6, 4), activation="gelu")


def test_all_compile():
    @torch.compile(fullgraph=True)
    def step(table, indices, weight):
        rows = kf.softmax(kf.embedding(indices, table, 1), 1)
        return kf.causal_conv1d(rows.transpose(1, 2), weight), kf.embedding_bag(indices, table)

    table, weight = leaf(11, 5), leaf(5, 4)
    convolved, bags = step(table, INDICES, weight)
    rows = functional.softmax(functional.embedding(INDICES, table, 1), 1)
    expected = functional.conv1d(functional.pad(rows.transpose(1, 2), (3, 0)), weight[:, None], groups=5)
    same(convolved.sum() + bags.sum(), expected.sum() + functional.embedding_bag(INDICES, table).sum(), table, weight)
