"""Attention against float64: heads that share keys, masks, lengths, strides, and every border of its blocks."""

import numpy as np
import pytest
import torch
from arrays import get_values, make
from reference import ATTENTION_TOLERANCE as TOLERANCE
from reference import attention as reference

# batch, queries, heads, keys, groups, width: blocks are 66 rows by 128 keys, spans 512 keys.
SHAPES = (
    (1, 1, 1, 1, 1, 1),
    (1, 1, 3, 1, 1, 64),
    (2, 5, 4, 9, 2, 20),
    (1, 70, 9, 70, 3, 32),
    (1, 1, 9, 700, 3, 64),
    (1, 3, 100, 129, 1, 8),
    (2, 67, 1, 128, 1, 16),
    (1, 130, 2, 1100, 1, 80),
    (1, 40, 4, 200, 2, 128),
    (1, 9, 2, 140, 1, 256),
)


def inputs(shape, dtype="f32", seed=0):
    b, s, h, n, g, d = shape
    rng = np.random.default_rng(seed)
    pairs = [make(rng.normal(size=size), dtype) for size in ((b, s, h, d), (b, n, g, d), (b, n, g, d))]
    return [p[0] for p in pairs], [p[1] for p in pairs]


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"causal": True, "window": 7}, {"window": 3}])
@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_the_reference_at_every_shape(k, shape, options):
    given, wide = inputs(shape)
    np.testing.assert_allclose(
        k.attention(*given, **options), reference(*wide, **options), rtol=0, atol=TOLERANCE["f32"]
    )


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("shape", SHAPES[2:5])
def test_agrees_with_the_reference_in_every_dtype(k, shape, dtype):
    given, wide = inputs(shape, dtype)
    found = get_values(k.attention(*given, causal=True))
    np.testing.assert_allclose(found, reference(*wide, causal=True), rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize(
    "options", [{"scale": 0.3}, {"scale": 0.0}, {"soft_cap": 2.0}, {"soft_cap": 5.0, "causal": True}]
)
def test_scale_and_soft_cap_agree_with_the_reference(k, options):
    given, wide = inputs((2, 5, 4, 9, 2, 20))
    np.testing.assert_allclose(k.attention(*given, **options), reference(*wide, **options), atol=TOLERANCE["f32"])


@pytest.mark.parametrize("causal", [False, True])
def test_keys_beyond_a_length_are_not_read(k, causal):
    given, wide = inputs((4, 3, 4, 600, 2, 16))
    lengths = np.array([600, 1, 0, 130], np.int32)
    given[1][3, 130:] = np.nan  # not read
    found = k.attention(*given, lengths, causal=causal)
    np.testing.assert_allclose(found, reference(*wide, causal=causal, lengths=lengths), atol=TOLERANCE["f32"])
    assert (found[2] == 0).all()  # no key


@pytest.mark.parametrize(("number", "item"), [(601, 0), (-1, 1), (2**31 - 1, 1), (-(2**31), 0)])
def test_lengths_that_there_can_not_be_are_refused(k, number, item):
    given, _ = inputs((2, 3, 4, 600, 2, 16))
    lengths = np.array([600, 600], np.int32)
    lengths[item] = number
    said = f"attention: lengths: expected 0 to 600, the number of keys, got {number} for item {item}"
    with pytest.raises(ValueError, match=said):
        k.attention(*given, lengths)
    d_context, lse = np.zeros((2, 3, 4, 16), np.float32), np.zeros((2, 4, 3), np.float32)
    options = {"scale": None, "causal": False, "window": 0, "soft_cap": 0.0}
    with pytest.raises(ValueError, match=said.replace(": lengths", "_backward: lengths")):
        k.attention_backward(d_context, *given, d_context, lse, lengths, **options)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("shape", [(1, 4, 2, 4, 2, 16), (1, 1, 4, 9, 2, 20)])  # as blocks, and as a few rows
def test_a_soft_cap_that_changes_nothing_gives_what_none_gives(k, shape, dtype):
    given, wide = inputs(shape, dtype)
    for soft_cap in (1e4, 1e6, 1e9, 1e38, 1e300, np.inf):
        found = get_values(k.attention(*given, soft_cap=soft_cap))
        np.testing.assert_allclose(found, reference(*wide), rtol=0, atol=TOLERANCE[dtype], err_msg=str(soft_cap))
    for soft_cap in (0.1, 1.0, 30.0, 50.0, 1e3):
        found = get_values(k.attention(*given, soft_cap=soft_cap, scale=2.0))
        expected = reference(*wide, soft_cap=soft_cap, scale=2.0)
        np.testing.assert_allclose(found, expected, rtol=0, atol=2 * TOLERANCE[dtype], err_msg=str(soft_cap))
    with pytest.raises(ValueError, match="soft_cap: expected a positive number, or 0 for none, got nan"):
        k.attention(*given, soft_cap=np.nan)


def test_a_query_without_keys_is_zeros(k):
    given, _ = inputs((1, 5, 2, 3, 1, 8))
    found = k.attention(*given, causal=True)  # the first two see none of the three
    assert (found[:, :2] == 0).all()
    assert (found[:, 2:] != 0).all()


def test_views_of_one_tensor_give_what_copies_give(k):
    rng = np.random.default_rng(1)
    qkv = rng.normal(size=(2, 9, 8, 16)).astype(np.float32)
    parts = qkv[:, :, :4], qkv[:, :, 4:6], qkv[:, :, 6:]
    expected = k.attention(*(np.ascontiguousarray(p) for p in parts))
    np.testing.assert_array_equal(k.attention(*parts), expected)
    heads_first = torch.from_numpy(np.ascontiguousarray(parts[0].transpose(0, 2, 1, 3))).transpose(1, 2)
    found = k.attention(heads_first, *(torch.from_numpy(np.ascontiguousarray(p)) for p in parts[1:]))
    np.testing.assert_array_equal(found.numpy(), expected)


def test_large_scores_do_not_overflow(k):
    given, wide = inputs((1, 4, 2, 300, 1, 16))
    scale = 3000.0
    found = k.attention(*given, scale=scale)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, reference(*wide, scale=scale), atol=5e-3)


def test_nan_stays_in_its_row(k):
    given, _ = inputs((1, 6, 3, 140, 1, 16))
    clean = k.attention(*given)
    given[0][0, 2, 1, 5] = np.nan
    found = k.attention(*given)
    assert np.isnan(found[0, 2, 1]).all()
    found[0, 2, 1] = clean[0, 2, 1]
    np.testing.assert_array_equal(found, clean)


def test_the_future_does_not_reach_the_past(k):
    given, _ = inputs((1, 140, 2, 140, 1, 16))
    clean = k.attention(*given, causal=True)
    given[1][0, 100:] *= -5
    given[2][0, 100:] = 7
    np.testing.assert_array_equal(k.attention(*given, causal=True)[0, :100], clean[0, :100])


def test_the_same_bits_on_any_number_of_threads(k):
    before, found = torch.get_num_threads(), {}
    try:
        for threads in (1, 2, 3, 4):
            torch.set_num_threads(threads)
            for shape in ((1, 1, 9, 3000, 3, 64), (2, 200, 6, 200, 3, 64)):
                bits = k.attention(*(torch.from_numpy(a) for a in inputs(shape)[0]), causal=True).numpy().tobytes()
                assert bits == found.setdefault(shape, bits), f"{threads} threads"
    finally:
        torch.set_num_threads(before)


def test_a_strided_last_dimension(k):
    (q, keys, v), _ = inputs((2, 5, 4, 9, 2, 20))
    q, keys, v = (np.asfortranarray(q), keys[..., ::-1], np.repeat(v, 2, -1)[..., ::2])
    plain = [np.ascontiguousarray(a) for a in (q, keys, v)]
    np.testing.assert_array_equal(k.attention(q, keys, v), k.attention(*plain))
    mask = np.ones((1, 1, 5, 18), np.float32)[..., ::2]
    np.testing.assert_array_equal(k.masked_attention(q, keys, v, mask), k.masked_attention(*plain, mask.copy()))


def test_gradients_without_elements(k):
    # torch gives the gradient's tensors strides of 0 there
    for q, keys in (((0, 7, 19, 63), (0, 5, 19, 63)), ((3, 4, 0, 3), (3, 4, 5, 3)), ((2, 0, 4, 8), (2, 5, 4, 8))):
        tensors = [torch.zeros(shape, requires_grad=True) for shape in (q, keys, keys)]
        k.attention(*tensors).sum().backward()
        assert all((t.grad == 0).all() for t in tensors)
        empty = torch.zeros(1).expand(q)
        assert k.attention(empty, *(t.detach() for t in tensors[1:])).shape == q


def test_heads_and_options_that_do_not_fit_are_refused(k):
    (q, keys, v), _ = inputs((2, 5, 4, 9, 2, 20))
    with pytest.raises(ValueError, match="attention: expected H % G == 0"):
        k.attention(q[:, :, :3].copy(), keys, v)
    with pytest.raises(ValueError, match="attention: soft_cap: expected a positive number, or 0 for none, got -1"):
        k.attention(q, keys, v, soft_cap=-1.0)
    with pytest.raises(ValueError, match="window >= 0"):
        k.attention(q, keys, v, window=-1)
    assert k.attention(q[:, :0], keys, v).shape == (2, 0, 4, 20)
    assert (k.attention(q, keys[:, :0], v[:, :0]) == 0).all()
