"""Gradients of masked_attention, its mask's included, and of varlen_attention, against PyTorch's own in float64."""

import itertools

import numpy as np
import pytest
import torch
from test_attention_gradient import TOLERANCE, inputs
from test_attention_gradient import gradients as gradients_of
from test_attention_gradient import reference as plain

# batch, queries, heads, keys, groups, width: blocks are 64 queries by 120 keys.
SHAPES = (
    (1, 1, 1, 1, 1, 1),
    (2, 5, 4, 9, 2, 20),
    (2, 70, 4, 130, 2, 16),
    (1, 129, 1, 250, 1, 128),
    (1, 9, 2, 30, 1, 256),
)
OPTIONS = ({}, {"causal": True}, {"causal": True, "window": 4}, {"soft_cap": 2.0})


def reference(q, k, v, mask, causal=False, window=0, soft_cap=0.0):
    shared = q.shape[2] // k.shape[2]
    k, v = k.repeat_interleave(shared, 2), v.repeat_interleave(shared, 2)
    scores = torch.einsum("bshd,blhd->bhsl", q, k) * q.shape[3] ** -0.5
    if soft_cap:
        scores = torch.tanh(scores / soft_cap) * soft_cap
    at, key = torch.arange(q.shape[1])[:, None] + k.shape[1] - q.shape[1], torch.arange(k.shape[1])
    seen = torch.ones(q.shape[1], k.shape[1], dtype=torch.bool)
    if causal:
        seen = (key <= at) & ((key > at - window) if window else True)
    seen = seen & (mask if mask.dtype == torch.bool else mask > -torch.inf)
    scores = scores if mask.dtype == torch.bool else scores + mask.masked_fill(mask == -torch.inf, 0)
    some = seen.any(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~seen & some, -torch.inf), -1).where(some, torch.tensor(0.0).double())
    return torch.einsum("bhsl,blhd->bshd", weights, v)


def mask_shapes(shape):
    batch, queries, heads, keys = shape[:4]
    return (
        (batch, heads, queries, keys),
        (1, 1, queries, keys),
        (batch, 1, 1, keys),
        (1, heads, 1, keys),
        (1, 1, 1, keys),
    )


def make_mask(size, dtype):
    torch.manual_seed(3)
    if dtype == torch.bool:
        return torch.rand(size) < 0.6
    return torch.randn(size).masked_fill(torch.rand(size) < 0.2, -torch.inf).to(dtype)


def near(found, expected, tolerance):
    largest = max(1.0, expected.abs().max().item())
    np.testing.assert_allclose(found.double(), expected, rtol=0, atol=tolerance * largest)


def compare(k, given, mask, d_out, tolerance, **options):
    leaves = [*given, mask] if mask.is_floating_point() else given
    rest = [] if mask.is_floating_point() else [mask]
    found = gradients_of(k.masked_attention, leaves, d_out, *rest, **options)
    expected = gradients_of(reference, [x.double() for x in leaves], d_out.double(), *rest, **options)
    for leaf, a, b in zip(leaves, found, expected, strict=True):
        assert (a.dtype, a.shape) == (leaf.dtype, leaf.shape)
        near(a, b, tolerance)
    if mask.is_floating_point():
        assert not found[-1][mask == -torch.inf].any()
    return found


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(k, shape, options):
    *given, d_out = inputs(shape)
    sizes = mask_shapes(shape)
    for size, dtype in [*((size, torch.float32) for size in sizes), (sizes[0], torch.bool), (sizes[2], torch.bool)]:
        compare(k, given, make_mask(size, dtype), d_out, 1e-5, **options)


@pytest.mark.parametrize("mask_dtype", [torch.bool, torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)
def test_dtypes(k, dtype, mask_dtype):
    *given, d_out = inputs((2, 70, 4, 90, 2, 16), dtype)
    tolerance = max(TOLERANCE[dtype], TOLERANCE.get(mask_dtype, 0))
    compare(k, given, make_mask((2, 1, 70, 90), mask_dtype), d_out, tolerance)


@pytest.mark.parametrize("mask_dtype", [torch.bool, torch.float32], ids=str)
@pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)
def test_blocks_that_a_mask_hides(k, dtype, mask_dtype):
    """As of documents, one after the other; nothing is computed of those blocks."""
    *given, d_out = inputs((1, 400, 2, 400, 1, 16), dtype)
    document = torch.arange(400) // 150
    seen = ((document[:, None] == document) & torch.ones(400, 400, dtype=torch.bool).tril())[None, None]
    mask = seen if mask_dtype == torch.bool else torch.zeros(seen.shape).masked_fill(~seen, -torch.inf)
    compare(k, given, mask, d_out, TOLERANCE[dtype])


def test_views(k):
    """Expanded masks get the sum, parts of larger tensors their own part."""
    *given, d_out = inputs((2, 5, 4, 9, 2, 20))
    mask, wide = make_mask((5, 9), torch.float32), torch.zeros(5, 2, 20)
    expanded = gradients_of(lambda m: k.masked_attention(*given, m.expand(2, 4, 5, 9)), [mask], d_out)[0]
    shared = gradients_of(lambda m: k.masked_attention(*given, m[None, None]), [mask], d_out)[0]
    torch.testing.assert_close(expanded, shared, atol=1e-6, rtol=1e-5)
    wide[:, 1, 3:12] = mask
    part = gradients_of(lambda m: k.masked_attention(*given, m[None, None, :, 1, 3:12]), [wide], d_out)[0]
    torch.testing.assert_close(part[:, 1, 3:12], shared)
    strided = gradients_of(lambda m: k.masked_attention(*given, m.T[None, None]), [mask.T.contiguous()], d_out)[0]
    torch.testing.assert_close(strided.T, shared)


def test_alibi(k):
    """A bias for each head and key: that it also falls with the query doesn't change a row's weights."""
    *given, d_out = inputs((2, 40, 4, 40, 2, 16))
    slopes = 2.0 ** -torch.arange(1, 5)
    distance = torch.arange(40)[None] - torch.arange(40)[:, None]
    expected = reference(*(x.double() for x in given), (slopes[:, None, None] * distance).double(), causal=True)
    bias = (slopes[:, None] * torch.arange(40))[None, :, None]
    near(k.masked_attention(*given, bias, causal=True), expected, 1e-5)
    compare(k, given, bias, d_out, 1e-5, causal=True)


@pytest.mark.parametrize("dtype", [torch.bool, torch.float32], ids=str)
def test_what_is_left_out_has_no_gradient(k, dtype):
    *given, d_out = inputs((1, 70, 2, 150, 1, 16))
    keep = torch.ones(1, 1, 1, 150, dtype=torch.bool)
    keep[..., 70:100] = False
    mask = keep if dtype == torch.bool else torch.zeros(keep.shape).masked_fill(~keep, -torch.inf)
    clean = gradients_of(k.masked_attention, given, d_out, mask)
    given[1][0, 70:100], given[2][0, 70:100] = 1e20, -1e20
    for a, b in zip(gradients_of(k.masked_attention, given, d_out, mask), clean, strict=True):
        assert torch.equal(a, b)
    assert not clean[1][0, 70:100].any()
    assert not clean[2][0, 70:100].any()
    nothing = gradients_of(k.masked_attention, given, d_out, torch.zeros_like(keep))
    assert not any(d.any() for d in nothing)


def test_a_nan_of_a_query_stays_with_it(k):
    *given, d_out = inputs((1, 140, 2, 140, 2, 16))
    mask = make_mask((1, 2, 140, 140), torch.float32)
    clean = gradients_of(k.masked_attention, [*given, mask], d_out)
    given[0][0, 100, 1, 5] = torch.nan
    d_q, _, _, d_mask = gradients_of(k.masked_attention, [*given, mask], d_out)
    assert d_q[0, 100, 1].isnan().all()
    assert d_mask[0, 1, 100][mask[0, 1, 100] > -torch.inf].isnan().all()
    d_q[0, 100, 1], d_mask[0, 1, 100] = clean[0][0, 100, 1], clean[3][0, 1, 100]
    assert torch.equal(d_q, clean[0])
    assert torch.equal(d_mask, clean[3])


LENGTHS = ((3, 3), (0, 5), (70, 200), (1, 130), (4, 0))


@pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_varlen(k, options, dtype):
    torch.manual_seed(0)
    queries, keys = (sum(pair[i] for pair in LENGTHS) for i in (0, 1))
    given = [torch.randn(size).to(dtype) for size in ((queries, 6, 32), (keys, 3, 32), (keys, 3, 32))]
    d_out = torch.randn(queries, 6, 32).to(dtype)
    ends = torch.tensor([(0, 0), *LENGTHS]).cumsum(0).int()
    found = gradients_of(k.varlen_attention, given, d_out, *ends.T.contiguous(), **options)
    expected = [torch.zeros(x.shape, dtype=torch.float64) for x in given]
    for (q0, k0), (q1, k1) in itertools.pairwise(ends.tolist()):
        if q1 > q0 and k1 > k0:
            alone = [x[None, a:b].double() for x, a, b in zip(given, (q0, k0, k0), (q1, k1, k1), strict=True)]
            parts = gradients_of(plain, alone, d_out[None, q0:q1].double(), **options)
            for whole, part, a, b in zip(expected, parts, (q0, k0, k0), (q1, k1, k1), strict=True):
                whole[a:b] = part[0]
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == dtype
        near(a, b, TOLERANCE[dtype])


def test_varlen_strided(k):
    qkv, ends = torch.randn(20, 8, 16, requires_grad=True), torch.tensor([0, 7, 20], dtype=torch.int32)
    d_out = torch.randn(20, 4, 16)
    out = k.varlen_attention(qkv[:, :4], qkv[:, 4:6], qkv[:, 6:], ends, ends, causal=True)
    (found,) = torch.autograd.grad(out, qkv, d_out)
    parts = [qkv[:, a:b].detach().contiguous() for a, b in ((0, 4), (4, 6), (6, 8))]
    assert torch.equal(found, torch.cat(gradients_of(k.varlen_attention, parts, d_out, ends, ends, causal=True), 1))


def test_empty(k):
    for shape in ((2, 0, 4, 9, 2, 20), (2, 5, 4, 0, 2, 20), (0, 5, 4, 9, 2, 20), (2, 5, 4, 9, 2, 0)):
        *given, d_out = inputs(shape)
        mask = torch.zeros(1, 1, 1, shape[3])
        for x, d in zip([*given, mask], gradients_of(k.masked_attention, [*given, mask], d_out), strict=True):
            assert d.shape == x.shape
            assert not d.any()
        flat = [x.flatten(0, 1) for x in given]
        ends = [torch.tensor([0, len(x)], dtype=torch.int32) for x in flat[:2]]
        for x, d in zip(flat, gradients_of(k.varlen_attention, flat, d_out.flatten(0, 1), *ends), strict=True):
            assert d.shape == x.shape
            assert not d.any()


@pytest.mark.parametrize("size", [(1, 1, 200, 200), (1, 6, 1, 200), (2, 1, 200, 200)], ids=str)
def test_the_same_bits_on_any_number_of_threads(k, size):
    before, found = torch.get_num_threads(), set()
    *given, d_out = inputs((2, 200, 6, 200, 3, 64))
    mask, ends = torch.randn(size), torch.tensor([0, 130, 400], dtype=torch.int32)
    flat = [x.flatten(0, 1) for x in given]
    try:
        for threads in (1, 2, 3, 8):
            torch.set_num_threads(threads)
            both = (
                *gradients_of(k.masked_attention, [*given, mask], d_out, causal=True),
                *gradients_of(k.varlen_attention, flat, d_out.flatten(0, 1), ends, ends),
            )
            found.add(b"".join(d.numpy().tobytes() for d in both))
    finally:
        torch.set_num_threads(before)
    assert len(found) == 1


def test_compiled(k):
    *given, d_out = inputs((2, 5, 4, 9, 2, 20))
    leaves = [*given, make_mask((1, 4, 5, 9), torch.float32)]
    run = torch.compile(lambda *a: k.masked_attention(*a, causal=True), fullgraph=True, backend="aot_eager")
    expected = gradients_of(k.masked_attention, leaves, d_out, causal=True)
    for a, b in zip(gradients_of(run, leaves, d_out), expected, strict=True):
        assert torch.equal(a, b)


def test_jax_has_the_same(k):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    *given, d_out = inputs((2, 5, 4, 9, 2, 20))
    leaves = [*given, make_mask((1, 4, 5, 9), torch.float32)]
    expected = gradients_of(k.masked_attention, leaves, d_out)
    d = jax.numpy.asarray(d_out.numpy())
    loss = jax.jit(jax.grad(lambda *a: (k.masked_attention(*a) * d).sum(), (0, 1, 2, 3)))
    for a, b in zip(loss(*(x.numpy() for x in leaves)), expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
