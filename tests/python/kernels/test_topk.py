"""topk with its gradient, and the repetition penalty."""

import numpy as np
import pytest
import torch
from arrays import get_values, make

DTYPES = ("f32", "f16", "bf16")


def largest(row, wanted):
    """NaNs first, then larger ones, each in the order of the row."""
    return np.lexsort((np.arange(len(row)), -np.nan_to_num(row, nan=0), ~np.isnan(row)))[:wanted]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("count", "wanted"), [(1, 1), (5, 5), (256, 3), (257, 40), (1000, 1), (3000, 700), (49152, 50)]
)
def test_values_and_indices(k, dtype, count, wanted):
    x, wide = make(np.random.default_rng(count).normal(size=(2, 3, count)), dtype)  # in bf16 many are equal
    values, indices = (np.asarray(get_values(a)) for a in k.topk(x, k=wanted))
    assert values.shape == indices.shape == (2, 3, wanted)
    for at in np.ndindex(2, 3):
        expected = largest(wide[at], wanted)
        np.testing.assert_array_equal(indices[at], expected)
        np.testing.assert_array_equal(values[at], wide[at][expected])


@pytest.mark.parametrize(
    "row",
    [
        [1, np.nan, 3, np.nan, np.inf],
        [-np.inf, -np.inf, -np.inf, -1, np.inf],
        [np.inf, np.nan, np.inf, 2, 2],
        [0.0, -0.0, 0.0, -1, -2],
        [-np.inf] * 5,
    ],
)
@pytest.mark.parametrize("before", [0, 600])
def test_nan_counts_as_the_largest(k, row, before):
    x = np.concatenate([np.full(before, -np.inf), row]).astype(np.float32)
    for wanted in range(1, 6):
        values, indices = k.topk(x, k=wanted)
        np.testing.assert_array_equal(indices, largest(x, wanted))
        np.testing.assert_array_equal(values, x[largest(x, wanted)])


def test_it_is_torchs(k):
    x = torch.randn(7, 900)
    values, indices = k.topk(x, k=33)
    expected = torch.topk(x, 33)
    assert torch.equal(values, expected.values)
    assert torch.equal(indices.long(), expected.indices)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_gradient(k, dtype):
    x = torch.randn(4, 300).to(dtype).requires_grad_()
    d = torch.randn(4, 9).to(dtype)
    values, indices = k.topk(x, k=9)
    (found,) = torch.autograd.grad(values, x, d)
    assert torch.equal(found, torch.zeros_like(x).scatter(1, indices.long(), d))


def test_refusals(k):
    x = np.zeros((2, 4), np.float32)
    for wanted in (0, 5):
        with pytest.raises(ValueError, match=r"topk: expected 0 < k <= N"):
            k.topk(x, k=wanted)
    with pytest.raises(IndexError, match="indices: expected numbers from 0 to 3, got 4: pass what topk returned"):
        k.topk_backward(x[:, :1].copy(), x, np.array([[0], [4]], np.int32), k=1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("integers", [np.int32, np.int64])
def test_repetition_penalty(k, dtype, integers):
    logits, wide = make(np.random.default_rng(2).normal(size=(2, 3, 20)), dtype)
    tokens = np.array([[[3, 3, 7, -1], [0, 19, -1, -1], [-1, -1, -1, -1]], [[1, 2, 3, 4]] * 3], integers)
    expected = wide.copy()
    for at in np.ndindex(2, 3):
        for token in set(tokens[at]) - {-1}:
            value = expected[(*at, token)]
            expected[(*at, token)] = value * 1.3 if value < 0 else value / 1.3
    k.apply_repetition_penalty(logits, torch.from_numpy(tokens) if dtype == "bf16" else tokens, penalty=1.3)
    np.testing.assert_allclose(get_values(logits), expected, rtol={"f32": 1e-7, "f16": 1e-3, "bf16": 8e-3}[dtype])


def test_repetition_penalty_is_transformers(k):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    logits, tokens = torch.randn(3, 50), torch.randint(0, 50, (3, 12))
    expected = transformers.RepetitionPenaltyLogitsProcessor(1.2)(tokens, logits.clone())
    k.apply_repetition_penalty(logits, tokens, penalty=1.2)
    torch.testing.assert_close(logits, expected)


def test_repetition_penalty_of_what_is_not_finite(k):
    logits = np.array([np.inf, -np.inf, np.nan, 1], np.float32)
    k.apply_repetition_penalty(logits, np.array([0, 1, 2]), penalty=2.0)
    np.testing.assert_array_equal(logits, [np.inf, -np.inf, np.nan, 1])


def test_repetition_penalty_refusals(k):
    logits, tokens = np.ones(4, np.float32), np.array([1, 4])
    for penalty in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="penalty: expected a positive number, or 1 for none, got"):
            k.apply_repetition_penalty(logits, tokens[:1], penalty=penalty)
    with pytest.raises(IndexError, match="tokens: element 1 is 4: expected a number below 4, the number of logits"):
        k.apply_repetition_penalty(logits, tokens, penalty=2.0)
    assert (logits == 1).all()
