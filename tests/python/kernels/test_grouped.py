"""grouped_linear against a product per group, its gradient, and the order that sort_into_groups makes."""

import numpy as np
import pytest
import torch
from arrays import get_values, make

TOLERANCE = {"f32": 5e-6, "f16": 1.2e-3, "bf16": 1e-2}
# Groups, columns of x, columns of the result: borders of the panels, which are 64 by 512.
SHAPES = ((1, 1, 1), (3, 33, 16), (4, 64, 65), (2, 513, 130))


def draw_offsets(rng, groups, rows):
    """Some groups have no row."""
    return np.sort(np.append(0, rng.integers(0, rows + 1, groups - 1))).astype(np.int32)


def by_group(x, weight, offsets):
    ends = [*offsets[1:], len(x)]
    return np.concatenate([x[a:b] @ w.T for a, b, w in zip(offsets, ends, weight, strict=True)])


def assert_close(found, expected, dtype, size):
    assert (np.abs(get_values(found) - expected) <= TOLERANCE[dtype] * np.maximum(size + np.abs(expected), 1e-3)).all()


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", SHAPES)
def test_each_group_has_a_product_of_its_own(k, dtype, shape):
    groups, columns, n = shape
    rng = np.random.default_rng(1)
    for rows in (0, 1, 7, 200):
        (x, x64), (w, w64) = (
            make(rng.normal(size=(rows, columns)), dtype),
            make(rng.normal(size=(groups, n, columns)), dtype),
        )
        offsets = draw_offsets(rng, groups, rows)
        size = by_group(np.abs(x64), np.abs(w64), offsets) / np.sqrt(columns)
        given = torch.from_numpy(offsets) if dtype == "bf16" else offsets
        assert_close(k.grouped_linear(x, w, given), by_group(x64, w64, offsets), dtype, size)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_gradients_are_those_of_the_products(k, dtype):
    torch.manual_seed(0)
    x, w = torch.randn(40, 24, dtype=dtype, requires_grad=True), torch.randn(4, 10, 24, dtype=dtype, requires_grad=True)
    offsets, d_out = torch.tensor([0, 5, 5, 30]), torch.randn(40, 10, dtype=dtype)
    found = torch.autograd.grad(k.grouped_linear(x, w, offsets), (x, w), d_out)
    x64, w64 = (each.detach().double().requires_grad_() for each in (x, w))
    parts = [x64[a:b] @ w64[g].T for g, (a, b) in enumerate(((0, 5), (5, 5), (5, 30), (30, 40)))]
    for mine, theirs in zip(found, torch.autograd.grad(torch.cat(parts), (x64, w64), d_out.double()), strict=True):
        torch.testing.assert_close(mine.double(), theirs, rtol=0, atol=1e-5 if dtype == torch.float32 else 0.1)
    assert not found[1][1].any()  # no row, no gradient


def test_a_strided_weight_and_wrong_offsets(k):
    rng = np.random.default_rng(2)
    x, w = (rng.normal(size=s).astype(np.float32) for s in ((6, 5), (2, 5, 3)))
    found = k.grouped_linear(x, w.transpose(0, 2, 1), np.array([0, 2]))
    np.testing.assert_allclose(found, by_group(x, w.transpose(0, 2, 1), [0, 2]), rtol=1e-5)
    for offsets, says in (([1, 2], "the first one to be 0"), ([0, 7], "above the number of rows of x, 6")):
        with pytest.raises(ValueError, match=says):
            k.grouped_linear(x, w.transpose(0, 2, 1).copy(), np.array(offsets))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_rows_of_a_group_keep_their_order(k, dtype):
    rng = np.random.default_rng(3)
    for rows, count in ((0, 3), (1, 1), (50, 7), (1000, 40)):
        groups = rng.integers(0, count, rows).astype(dtype)
        order, offsets = k.sort_into_groups(groups, count=count)
        np.testing.assert_array_equal(order, np.argsort(groups, kind="stable"))
        np.testing.assert_array_equal(offsets, np.searchsorted(np.sort(groups), np.arange(count)))
    for wrong in (-1, 3):
        with pytest.raises(IndexError, match=f"groups: element 1 is {wrong}: expected numbers from 0 to 2"):
            k.sort_into_groups(np.array([0, wrong]), count=3)


def test_a_mixture_of_experts(k):
    """Routed, sorted, multiplied, brought back; with gradients for all."""
    torch.manual_seed(1)
    x = torch.randn(30, 16, requires_grad=True)
    router, up, down = (torch.randn(*s, requires_grad=True) for s in ((5, 16), (5, 24, 16), (5, 16, 24)))
    values, experts = k.topk(x @ router.T, k=2)
    weights = k.softmax(values)
    order, offsets = k.sort_into_groups(experts.flatten(), count=5)
    hidden = k.silu(k.grouped_linear(x[order // 2], up, offsets))
    rows = k.grouped_linear(hidden, down, offsets) * weights.flatten()[order, None]
    out = torch.zeros_like(x).index_add(0, order // 2, rows)

    chosen = torch.topk(x @ router.T, 2)
    expected = torch.zeros_like(x)
    for place in range(2):
        expert, weight = chosen.indices[:, place], torch.softmax(chosen.values, -1)[:, place]
        inner = torch.nn.functional.silu(torch.einsum("rk,rnk->rn", x, up[expert]))
        expected = expected + weight[:, None] * torch.einsum("rn,rkn->rk", inner, down[expert])
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-4)
    inputs = (x, router, up, down)
    for a, b in zip(*(torch.autograd.grad(y.square().sum(), inputs) for y in (out, expected)), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=2e-2)
