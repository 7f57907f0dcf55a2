"""Attention sinks: a score of each head that takes part in the softmax and has no value. Against float64."""

import numpy as np
import pytest
import torch
from arrays import get_values
from test_attention import SHAPES, TOLERANCE, inputs, reference
from test_attention_gradient import TOLERANCE as GRADIENT_TOLERANCE
from test_attention_masks import make_mask, masked
from test_paged import SHAPES as PAGED_SHAPES
from test_paged import Paged

OPTIONS = ({}, {"causal": True, "window": 7}, {"soft_cap": 2.0, "scale": 0.7})


def make_sinks(heads, seed=5):
    return np.random.default_rng(seed).normal(size=heads).astype(np.float32) * 3


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_agree_with_the_reference_at_every_shape(k, shape, options):
    given, wide = inputs(shape)
    sinks = make_sinks(shape[2])
    found = k.attention(*given, None, sinks, **options)
    np.testing.assert_allclose(found, reference(*wide, sinks=sinks, **options), rtol=0, atol=2 * TOLERANCE["f32"])


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("shape", SHAPES[2:5])
def test_agree_with_the_reference_in_every_dtype(k, shape, dtype):
    given, wide = inputs(shape, dtype)
    sinks = make_sinks(shape[2])
    found = get_values(k.attention(*given, None, sinks, causal=True))
    np.testing.assert_allclose(found, reference(*wide, causal=True, sinks=sinks), rtol=0, atol=2 * TOLERANCE[dtype])


@pytest.mark.parametrize("kind", ["bool", "f32"])
@pytest.mark.parametrize("shape", SHAPES[1:5])
def test_count_beside_a_mask(k, shape, kind):
    batch, queries, heads, keys = shape[:4]
    given, wide = inputs(shape)
    sinks = make_sinks(heads)
    mask, wide_mask = make_mask(kind, (batch, 1, queries, keys))
    found = k.masked_attention(*given, mask, sinks)
    np.testing.assert_allclose(found, masked(*wide, wide_mask, sinks=sinks), rtol=0, atol=2 * TOLERANCE["f32"])


@pytest.mark.parametrize("scale", [None, 0.0, -0.5])
def test_far_from_the_scores(k, scale):
    """So low that the result is as without, so high that it is zeros, and in between; -inf is none."""
    given, wide = inputs((2, 9, 6, 700, 2, 16))
    for value in (-np.inf, -1e4, -100.0, -10.0, 0.0, 10.0, 100.0, 1e4):
        sinks = np.full(6, value, np.float32)
        found = k.attention(*given, np.array([700, 0], np.int32), sinks, scale=scale)
        expected = reference(*wide, lengths=[700, 0], sinks=sinks, scale=scale)
        np.testing.assert_allclose(found, expected, rtol=0, atol=2 * TOLERANCE["f32"], err_msg=str(value))
        assert (found[1] == 0).all()  # no keys
    without = k.attention(*given, scale=scale)
    np.testing.assert_array_equal(k.attention(*given, None, np.full(6, -np.inf, np.float32), scale=scale), without)


def torch_reference(q, k, v, sinks, mask=None, causal=False, soft_cap=0.0):
    shared = q.shape[2] // k.shape[2]
    k, v = k.repeat_interleave(shared, 2), v.repeat_interleave(shared, 2)
    scores = torch.einsum("bshd,blhd->bhsl", q, k) * q.shape[3] ** -0.5
    if soft_cap:
        scores = torch.tanh(scores / soft_cap) * soft_cap
    if mask is not None:
        scores = scores + mask
    if causal:
        unseen = torch.ones(q.shape[1], k.shape[1], dtype=torch.bool).triu(k.shape[1] - q.shape[1] + 1)
        scores = scores.masked_fill(unseen, -torch.inf)
    of_heads = sinks[None, :, None, None].expand(*scores.shape[:3], 1)
    weights = torch.softmax(torch.cat([scores, of_heads], -1), -1)[..., :-1]
    return torch.einsum("bhsl,blhd->bshd", weights, v)


@pytest.mark.parametrize("dtype", list(GRADIENT_TOLERANCE), ids=str)
@pytest.mark.parametrize("shape", [(2, 5, 4, 9, 2, 20), (1, 70, 9, 50, 3, 32), (1, 1, 6, 130, 2, 16)])
@pytest.mark.parametrize("masks", [False, True])
def test_have_a_gradient_and_change_those_of_the_others(k, shape, dtype, masks):
    b, s, h, n, g, d = shape
    torch.manual_seed(0)
    given = [torch.randn(size).to(dtype) for size in ((b, s, h, d), (b, n, g, d), (b, n, g, d))]
    given.append(torch.randn(h))
    if masks:
        given.append(torch.randn(b, 1, s, n))
    d_out = torch.randn(b, s, h, d).to(dtype)
    options = {} if masks else {"causal": s <= n, "soft_cap": 5.0}
    leaves = [x.clone().requires_grad_() for x in given]
    q, keys, v, sinks, *mask = leaves
    out = k.masked_attention(q, keys, v, *mask, sinks) if masks else k.attention(q, keys, v, None, sinks, **options)
    found = torch.autograd.grad(out, leaves, d_out)
    wide = [x.double().requires_grad_() for x in given]
    expected = torch.autograd.grad(torch_reference(*wide, **options), wide, d_out.double())
    for name, a, e in zip(("q", "k", "v", "sinks", "mask"), found, expected, strict=masks):
        largest = max(1.0, e.abs().max().item())
        np.testing.assert_allclose(a.double(), e, rtol=0, atol=GRADIENT_TOLERANCE[dtype] * largest, err_msg=f"d_{name}")


def test_without_a_query_or_an_item_have_a_gradient_of_zeros(k):
    for shape in ((2, 0, 4, 9, 2, 20), (0, 5, 4, 9, 2, 20), (2, 5, 4, 0, 2, 20)):
        given = [torch.as_tensor(x) for x in inputs(shape)[0]]
        sinks = torch.randn(4, requires_grad=True)
        k.attention(*given, None, sinks).sum().backward()
        assert (sinks.grad == 0).all()


def test_in_jax_have_the_same_gradient(k):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    given = [np.asarray(x) for x in inputs((2, 5, 4, 9, 2, 20))[0]]
    sinks = make_sinks(4)
    leaf = torch.tensor(sinks, requires_grad=True)
    k.attention(*map(torch.as_tensor, given), None, leaf, causal=True).square().sum().backward()
    found = jax.jit(jax.grad(lambda s: (k.attention(*given, None, s, causal=True) ** 2).sum()))(sinks)
    np.testing.assert_allclose(found, leaf.grad, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("cache", ["f32", "bf16", "i8"])
@pytest.mark.parametrize("shape", PAGED_SHAPES[1:6])
def test_count_beside_pages(k, cache, shape):
    """One query, several spans of keys, and queries of a prompt."""
    of, sinks = Paged(k, shape, cache), make_sinks(shape[2])
    tolerance = 2 * TOLERANCE["f32"]  # the reference takes the keys as the cache holds them
    np.testing.assert_allclose(of(sinks=torch.from_numpy(sinks)), of.expected(sinks=sinks), rtol=0, atol=tolerance)


def test_of_another_length_or_dtype_are_refused(k):
    given, _ = inputs((2, 5, 4, 9, 2, 20))
    with pytest.raises(
        ValueError, match=r"attention: sinks: expected shape \[H\] with H = 4 \(bound by q\), got \[3\]"
    ):
        k.attention(*given, None, make_sinks(3))
    with pytest.raises(TypeError, match="attention: sinks: expected"):
        k.attention(*given, None, make_sinks(4).astype(np.float64))
