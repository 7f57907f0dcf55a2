"""Gradients of attention against PyTorch's own in float64: heads that share keys, masks, lengths, strides, borders of its blocks."""

import numpy as np
import pytest
import torch

TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 1e-2}
# batch, queries, heads, keys, groups, width: blocks are 64 queries by 120 keys.
SHAPES = (
    (1, 1, 1, 1, 1, 1),
    (2, 5, 4, 9, 2, 20),
    (1, 70, 9, 70, 3, 32),
    (1, 3, 100, 121, 1, 8),
    (2, 64, 1, 120, 1, 16),
    (1, 129, 2, 250, 1, 80),
)
OPTIONS = ({}, {"causal": True}, {"causal": True, "window": 7}, {"window": 3}, {"soft_cap": 2.0, "causal": True})


def reference(q, k, v, lengths=None, causal=False, window=0, scale=None, soft_cap=0.0):
    shared, length = q.shape[2] // k.shape[2], k.shape[1]
    k, v = k.repeat_interleave(shared, 2), v.repeat_interleave(shared, 2)
    scores = torch.einsum("bshd,blhd->bhsl", q, k) * (q.shape[3] ** -0.5 if scale is None else scale)
    if soft_cap:
        scores = torch.tanh(scores / soft_cap) * soft_cap
    count = torch.full((q.shape[0],), length) if lengths is None else torch.as_tensor(lengths).clamp(0, length)
    count, key = count[:, None, None], torch.arange(length)
    query = torch.arange(q.shape[1])[:, None]
    at = count - q.shape[1] + query if causal else (count - 1).expand(-1, q.shape[1], 1)
    seen = (key <= at) & (key < count)
    if window:
        seen = seen & (key > at - window)
    seen = seen[:, None]
    some = seen.any(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~seen & some, -torch.inf), -1).where(some, torch.tensor(0.0).double())
    return torch.einsum("bhsl,blhd->bshd", weights, v)


def inputs(shape, dtype=torch.float32, seed=0):
    """q, k, v and the gradient that arrives."""
    b, s, h, n, g, d = shape
    torch.manual_seed(seed)
    return [torch.randn(size).to(dtype) for size in ((b, s, h, d), (b, n, g, d), (b, n, g, d), (b, s, h, d))]


def gradients(op, given, d_out, *args, **options):
    leaves = [x.detach().requires_grad_() for x in given]
    return torch.autograd.grad(op(*leaves, *args, **options), leaves, d_out)


def compare(k, given, d_out, *args, **options):
    found = gradients(k.attention, given, d_out, *args, **options)
    expected = gradients(reference, [x.double() for x in given], d_out.double(), *args, **options)
    tolerance = TOLERANCE[given[0].dtype]
    for name, a, b in zip("qkv", found, expected, strict=True):
        largest = max(1.0, b.abs().max().item())
        np.testing.assert_allclose(a.double(), b, rtol=0, atol=tolerance * largest, err_msg=f"d_{name}")


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_the_reference_at_every_shape(k, shape, options):
    *given, d_out = inputs(shape)
    compare(k, given, d_out, **options)


@pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)
@pytest.mark.parametrize("shape", SHAPES[1:3])
def test_agrees_with_the_reference_in_every_dtype(k, shape, dtype):
    *given, d_out = inputs(shape, dtype)
    compare(k, given, d_out, causal=True)


@pytest.mark.parametrize("options", [{"scale": 0.3}, {"scale": 0.0}, {"scale": 40.0}, {"soft_cap": 2.0}])
def test_scale_and_soft_cap_agree_with_the_reference(k, options):
    *given, d_out = inputs((2, 5, 4, 9, 2, 20))
    compare(k, given, d_out, **options)


@pytest.mark.parametrize("soft_cap", [1e4, 1e9, 1e300])
def test_a_soft_cap_that_changes_nothing_gives_the_gradients_of_none(k, soft_cap):
    *given, d_out = inputs((1, 70, 9, 70, 3, 32))
    found = gradients(k.attention, given, d_out, soft_cap=soft_cap)
    expected = gradients(reference, [x.double() for x in given], d_out.double())
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.double(), b, rtol=0, atol=TOLERANCE[torch.float32] * b.abs().max().item())


@pytest.mark.parametrize("options", OPTIONS)
def test_keys_beyond_a_length_are_not_read(k, options):
    *given, d_out = inputs((4, 3, 4, 250, 2, 16))
    lengths = torch.tensor([250, 1, 0, 130], dtype=torch.int32)
    compare(k, given, d_out, lengths, **options)
    clean = gradients(k.attention, given, d_out, lengths, **options)
    given[1][3, 130:] = torch.nan  # not read
    given[2][3, 130:] = torch.nan
    for a, b in zip(gradients(k.attention, given, d_out, lengths, **options), clean, strict=True):
        assert torch.equal(a, b)
    assert not clean[1][3, 130:].any()
    assert not clean[0][2].any()  # no key


def test_queries_without_keys_have_no_gradient(k):
    *given, d_out = inputs((1, 5, 2, 3, 1, 8))
    d_q, _, d_v = gradients(k.attention, given, d_out, causal=True)  # the first two see none of the three
    assert not d_q[:, :2].any()
    assert d_v.all()


def test_empty_inputs_have_gradients_of_their_shape(k):
    for shape in ((2, 0, 4, 9, 2, 20), (2, 5, 4, 0, 2, 20), (0, 5, 4, 9, 2, 20), (2, 5, 4, 9, 2, 0)):
        *given, d_out = inputs(shape)
        for x, d in zip(given, gradients(k.attention, given, d_out), strict=True):
            assert d.shape == x.shape
            assert not d.any()


def test_views_of_one_tensor_have_the_gradients_of_copies(k):
    torch.manual_seed(1)
    qkv = torch.randn(2, 9, 8, 16, requires_grad=True)
    d_out = torch.randn(2, 9, 4, 16)
    (found,) = torch.autograd.grad(k.attention(qkv[:, :, :4], qkv[:, :, 4:6], qkv[:, :, 6:]), qkv, d_out)
    parts = [qkv[:, :, a:b].detach().contiguous() for a, b in ((0, 4), (4, 6), (6, 8))]
    assert torch.equal(found, torch.cat(gradients(k.attention, parts, d_out), 2))


def test_numpy_has_the_same(k):
    *given, d_out = inputs((2, 5, 4, 9, 2, 20))
    expected = gradients(k.attention, given, d_out, causal=True)
    q, keys, v, d = (x.numpy() for x in (*given, d_out))
    context, lse = k.attention(q, keys, v, causal=True), np.empty((2, 4, 5), np.float32)
    shared = np.repeat(keys, 2, 2).astype(np.float64)
    scores = np.einsum("bshd,blhd->bhsl", q, shared) * 20**-0.5
    seen = np.arange(9)[None] <= np.arange(5)[:, None] + 4
    lse[:] = np.log(np.where(seen, np.exp(scores), 0).sum(-1))
    found = k.attention_backward(d, q, keys, v, context, lse, None, scale=None, causal=True, window=0, soft_cap=0.0)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_jax_has_the_same(k):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    *given, d_out = inputs((2, 5, 4, 9, 2, 20))
    expected = gradients(k.attention, given, d_out, causal=True)
    d = jax.numpy.asarray(d_out.numpy())
    loss = jax.jit(jax.grad(lambda q, keys, v: (k.attention(q, keys, v, causal=True) * d).sum(), (0, 1, 2)))
    for a, b in zip(loss(*(x.numpy() for x in given)), expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_compile_keeps_the_gradient(k):
    *given, d_out = inputs((2, 5, 4, 9, 2, 20))
    run = torch.compile(lambda *a: k.attention(*a, causal=True), fullgraph=True, backend="aot_eager")
    for a, b in zip(gradients(run, given, d_out), gradients(k.attention, given, d_out, causal=True), strict=True):
        assert torch.equal(a, b)


def test_a_nan_of_a_query_stays_with_it_and_its_keys(k):
    *given, d_out = inputs((1, 140, 2, 140, 2, 16))
    clean = gradients(k.attention, given, d_out, causal=True)
    given[0][0, 100, 1, 5] = torch.nan
    d_q, d_k, d_v = gradients(k.attention, given, d_out, causal=True)
    assert d_q[0, 100, 1].isnan().all()
    d_q[0, 100, 1] = clean[0][0, 100, 1]
    assert torch.equal(d_q, clean[0])
    for found, before in ((d_k, clean[1]), (d_v, clean[2])):
        assert found[0, :101, 1].isnan().all()
        assert torch.equal(found[0, :, 0], before[0, :, 0])
    assert torch.equal(d_v[0, 101:], clean[2][0, 101:])  # later keys, which the query doesn't see


def test_the_same_bits_on_any_number_of_threads(k):
    before, found = torch.get_num_threads(), {}
    try:
        for threads in (1, 2, 3, 8):
            torch.set_num_threads(threads)
            for shape in ((1, 3, 9, 900, 3, 64), (2, 200, 6, 200, 3, 64), (1, 200, 4, 200, 1, 20)):
                *given, d_out = inputs(shape)
                bits = [d.numpy().tobytes() for d in gradients(k.attention, given, d_out, causal=True)]
                assert bits == found.setdefault(shape, bits), f"{threads} threads"
    finally:
        torch.set_num_threads(before)


def test_no_memory_for_a_matrix_of_scores(k):
    """4,096 queries and keys: the scores of one head alone would be 64 MiB."""
    resource = pytest.importorskip("resource", reason="Windows has no getrusage()")

    *given, d_out = inputs((1, 4096, 1, 4096, 1, 16))
    gradients(k.attention, [x[:, :64] for x in given], d_out[:, :64])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    gradients(k.attention, given, d_out)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 << 10  # KiB
