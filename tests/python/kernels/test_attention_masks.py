"""masked_attention and varlen_attention against float64."""

import itertools

import numpy as np
import pytest
import torch
from arrays import get_values, make
from reference import attend
from test_attention import SHAPES, TOLERANCE, inputs, reference


def masked(q, k, v, mask, causal=False, soft_cap=0.0, sinks=None):
    shared = q.shape[2] // k.shape[2]
    k, v = np.repeat(k, shared, 2), np.repeat(v, shared, 2)
    scores = np.einsum("bshd,blhd->bhsl", q, k) * q.shape[3] ** -0.5
    if soft_cap:
        scores = np.tanh(scores / soft_cap) * soft_cap
    with np.errstate(invalid="ignore"):
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        scores[..., np.arange(k.shape[1])[None] > np.arange(q.shape[1])[:, None] + k.shape[1] - q.shape[1]] = -np.inf
    return attend(scores, v, sinks)


def make_mask(kind, shape, seed=3):
    rng = np.random.default_rng(seed)
    if kind == "bool":
        values = rng.random(shape) < 0.6
        return values, values
    values = rng.normal(size=shape) * 2
    values[rng.random(shape) < 0.2] = -np.inf
    return make(values, kind)


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"soft_cap": 2.0}])
@pytest.mark.parametrize("kind", ["bool", "f32", "f16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_masks_of_every_shape_broadcast(k, shape, kind, options):
    batch, queries, heads, keys = shape[:4]
    given, wide = inputs(shape)
    for mask_shape in ((batch, heads, queries, keys), (1, 1, queries, keys), (batch, 1, 1, keys), (1, heads, 1, keys)):
        mask, wide_mask = make_mask(kind, mask_shape)
        found = k.masked_attention(*given, mask, **options)
        # The added mask spreads the weights: a result can be as large as a value, and is rounded accordingly.
        np.testing.assert_allclose(found, masked(*wide, wide_mask, **options), rtol=0, atol=2 * TOLERANCE["f32"])


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_masks_of_every_dtype_agree_with_the_reference(k, dtype):
    given, wide = inputs(SHAPES[3], dtype)
    given = [torch.as_tensor(a) for a in given]
    for kind in ("bool", "f32", dtype):
        mask, wide_mask = make_mask(kind, (1, 9, 70, 70))
        found = get_values(k.masked_attention(*given, torch.as_tensor(mask)))
        np.testing.assert_allclose(found, masked(*wide, wide_mask), rtol=0, atol=TOLERANCE[dtype])


def test_expanded_and_strided_masks(k):
    given, wide = inputs(SHAPES[2])
    tensors = [torch.from_numpy(a) for a in given]
    mask = torch.rand(5, 9) < 0.6
    found = k.masked_attention(*tensors, mask.expand(2, 4, 5, 9))
    np.testing.assert_allclose(found.numpy(), masked(*wide, mask.numpy()[None, None]), atol=TOLERANCE["f32"])
    wider = torch.zeros(2, 4, 5, 20, dtype=torch.bool)
    wider[..., 3:12] = mask
    assert torch.equal(k.masked_attention(*tensors, wider[..., 3:12]), found)


def test_what_is_left_out_does_not_count(k):
    given, _ = inputs((1, 6, 2, 150, 1, 16))
    mask = np.ones((1, 1, 1, 150), bool)
    mask[..., 70:] = False
    clean = k.masked_attention(*given, mask)
    given[1][0, 70:] = np.nan
    given[2][0, 70:] = 1e30
    np.testing.assert_array_equal(k.masked_attention(*given, mask), clean)
    assert (k.masked_attention(*given, np.zeros_like(mask)) == 0).all()


def test_concatenated_sequences_agree_with_each_by_itself(k):
    rng = np.random.default_rng(0)
    lengths = ((3, 3), (0, 5), (70, 200), (1, 130), (4, 0))
    q = rng.normal(size=(sum(a for a, _ in lengths), 6, 32)).astype(np.float32)
    keys, values = rng.normal(size=(2, sum(b for _, b in lengths), 3, 32)).astype(np.float32)
    ends = np.cumsum([(0, 0), *lengths], 0).astype(np.int32)
    for options in ({}, {"causal": True}, {"causal": True, "window": 5, "soft_cap": 3.0}):
        found = k.varlen_attention(q, keys, values, ends[:, 0].copy(), ends[:, 1].copy(), **options)
        for (q0, k0), (q1, k1) in itertools.pairwise(ends):
            alone = [a[None].astype(np.float64) for a in (q[q0:q1], keys[k0:k1], values[k0:k1])]
            if q1 > q0:
                expected = reference(*alone, **options)[0] if k1 > k0 else np.zeros((q1 - q0, 6, 32))
                np.testing.assert_allclose(found[q0:q1], expected, atol=TOLERANCE["f32"])


def test_the_same_bits_on_any_number_of_threads(k):
    before, found = torch.get_num_threads(), set()
    tensors = [torch.from_numpy(a) for a in inputs((2, 200, 6, 200, 3, 64))[0]]
    mask, ends = torch.rand(1, 1, 200, 200) < 0.5, torch.tensor([0, 130, 400], dtype=torch.int32)
    flat = [a.flatten(0, 1) for a in tensors]
    try:
        for threads in (1, 2, 3, 8):
            torch.set_num_threads(threads)
            both = k.masked_attention(*tensors, mask), k.varlen_attention(*flat, ends, ends)
            found.add(b"".join(a.numpy().tobytes() for a in both))
    finally:
        torch.set_num_threads(before)
    assert len(found) == 1


def test_wrong_masks_and_offsets_are_refused(k):
    given, _ = inputs((2, 5, 4, 9, 2, 20))
    with pytest.raises(ValueError, match="masked_attention: mask: expected 1 or 4 in dimension 1, the heads, got 3"):
        k.masked_attention(*given, np.ones((2, 3, 5, 9), bool))
    flat = [a.reshape(-1, *a.shape[2:]) for a in given]
    queries, keys = np.array([0, 5, 10], np.int32), np.array([0, 9, 18], np.int32)
    with pytest.raises(
        ValueError, match="cu_queries: expected to begin with 0 and to end with 10, the number of rows, got 0 and 9"
    ):
        k.varlen_attention(*flat, np.array([0, 5, 9], np.int32), keys)
    with pytest.raises(ValueError, match="cu_keys: expected non-decreasing numbers, got 18 after 20 at 2"):
        k.varlen_attention(*flat, queries, np.array([0, 20, 18], np.int32))
    with pytest.raises(ValueError, match="C"):
        k.varlen_attention(*flat, queries, keys[:2].copy())


def documents(*lengths, causal):
    """Which keys the tokens of these documents, one after the other, see: those of their own."""
    of = np.repeat(np.arange(len(lengths)), lengths)
    seen = of[:, None] == of
    return np.tril(seen) if causal else seen


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_a_mask_of_documents_is_each_of_them_alone(k, dtype, causal):
    """Blocks of queries see none of many blocks of keys; nothing is computed of those."""
    lengths = (300, 1, 130, 260)
    ends = np.cumsum((0, *lengths))
    given, wide = inputs((1, ends[-1], 4, ends[-1], 2, 40), dtype)
    seen = documents(*lengths, causal=causal)[None, None]
    for mask in (seen, np.where(seen, 0, -np.inf).astype(np.float32)):
        found = get_values(k.masked_attention(*given, torch.as_tensor(mask)))
        for begin, end in itertools.pairwise(ends):
            alone = reference(*(a[:, begin:end] for a in wide), causal=causal)
            np.testing.assert_allclose(found[:, begin:end], alone, rtol=0, atol=TOLERANCE[dtype])


def test_a_nan_in_a_mask_is_no_hidden_key(k):
    given, _ = inputs((1, 300, 2, 300, 1, 16))
    mask = np.full((1, 1, 300, 300), -np.inf, np.float32)
    mask[0, 0, 7, 200] = np.nan
    found = k.masked_attention(*given, mask)
    assert np.isnan(found[0, 7]).all()
    assert (np.delete(found, 7, 1) == 0).all()


@pytest.mark.parametrize("soft_cap", [1e4, 1e9, 1e300])
def test_a_soft_cap_that_changes_nothing_gives_what_none_gives(k, soft_cap):
    """Of masks, and of concatenated sequences."""
    given, wide = inputs((1, 40, 4, 40, 2, 32))
    mask, wide_mask = make_mask("f32", (1, 1, 40, 40))
    found = k.masked_attention(*given, mask, soft_cap=soft_cap)
    np.testing.assert_allclose(found, masked(*wide, wide_mask), rtol=0, atol=2 * TOLERANCE["f32"])
    ends = np.array([0, 40], np.int32)
    found = k.varlen_attention(*(x[0] for x in given), ends, ends, soft_cap=soft_cap)
    np.testing.assert_allclose(found[None], reference(*wide), rtol=0, atol=TOLERANCE["f32"])
