"""argmax, and sampling: which tokens can be drawn, how often each is, and from which random numbers."""

import numpy as np
import pytest
import torch
from arrays import make
from support.distributions import probabilities


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("count", [1, 5, 255, 256, 257, 1000])
def test_argmax_finds_the_first_of_the_largest(k, dtype, count):
    x, wide = make(np.random.default_rng(count).normal(size=(3, 2, count)), dtype)
    found = np.asarray(k.argmax(x))
    assert found.dtype == np.int32
    assert found.shape == (3, 2)
    np.testing.assert_array_equal(found, wide.argmax(-1))


@pytest.mark.parametrize(
    "values", [[1, 3, 3], [0, np.nan, 5, np.nan], [np.inf, 1, np.inf], [np.inf, np.nan], [-np.inf] * 3, [5, 4, np.nan]]
)
@pytest.mark.parametrize("before", [0, 300])
def test_argmax_is_numpys(k, values, before):
    x = np.concatenate([np.full(before, -np.inf), values]).astype(np.float32)
    assert k.argmax(x) == np.argmax(x)


def philox(key, low, high):
    """Salmon et al.: ten rounds, as the paper writes them."""
    c, mask = [low & 0xFFFFFFFF, low >> 32, high & 0xFFFFFFFF, high >> 32], 0xFFFFFFFF
    k0, k1 = key & mask, key >> 32
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k0, b & mask, (a >> 32) ^ c[3] ^ k1, a & mask]
        k0, k1 = (k0 + 0x9E3779B9) & mask, (k1 + 0xBB67AE85) & mask
    return c


def test_the_papers_random_numbers():
    """The known answer of Random123 for philox4x32 with 10 rounds, all zeros."""
    assert philox(0, 0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def test_a_uniform_row_shows_the_random_number(k):
    """Of 2^12 equal logits that which the number, in [0, 1), points at."""
    for seed, step in ((0, 0), (12345, 7), (1 << 40, 1 << 33)):
        found = k.sample(np.zeros((3, 4096), np.float32), seed=seed, step=step)
        for row in range(3):
            c = philox(seed, row, step)
            assert found[row] == int(((c[1] << 32 | c[0]) >> 11) * 2.0**-53 * 4096)


@pytest.mark.parametrize("temperature", [1e-30, 1e-39, 1e-300])
@pytest.mark.parametrize("options", [{}, {"top_k": 5}, {"top_p": 0.9}, {"min_p": 0.1}], ids=str)
def test_the_smallest_temperatures_give_the_largest_logit(k, temperature, options):
    logits = np.random.default_rng(0).normal(size=(3, 5000)).astype(np.float32)
    found = k.sample(logits, seed=1, temperature=temperature, **options)
    np.testing.assert_array_equal(found, logits.argmax(-1))


def draws(k, logits, count=20000, **options):
    """How often each was drawn, in parts."""
    rows = np.tile(np.asarray(logits, np.float32), (count, 1))
    return np.bincount(k.sample(rows, seed=3, **options), minlength=rows.shape[1]) / count


OPTIONS = (
    {},
    {"temperature": 0.5},
    {"temperature": 3.0},
    {"top_k": 3},
    {"top_p": 0.7},
    {"min_p": 0.2},
    {"top_k": 5, "top_p": 0.8, "temperature": 1.5},
    {"top_k": 8, "min_p": 0.1, "top_p": 0.9},
)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("count", [10, 600])
def test_how_often_each_is_drawn(k, options, count):
    logits = np.random.default_rng(1).permutation(np.concatenate([np.linspace(0, 3, 10), np.full(count - 10, -6.0)]))
    expected = probabilities(logits, **options)
    found = draws(k, logits, **options)
    assert (found[expected == 0] == 0).all()
    np.testing.assert_allclose(found, expected, atol=4 * np.sqrt(0.25 / 20000))


def test_a_large_vocabulary_with_top_p(k):
    """More candidates than are sorted at first."""
    logits = np.random.default_rng(2).normal(size=5000) * 0.1
    expected = probabilities(logits, top_p=0.6)
    found = np.unique(k.sample(np.tile(logits.astype(np.float32), (4000, 1)), seed=1, top_p=0.6))
    assert (expected[found] > 0).all()
    assert len(found) > 1500


def test_temperature_zero_is_argmax(k):
    x = np.random.default_rng(3).normal(size=(5, 700)).astype(np.float32)
    np.testing.assert_array_equal(k.sample(x, seed=1, temperature=0.0, top_k=5), x.argmax(-1))


def test_what_is_left_out_is_never_drawn(k):
    x = np.full((500, 900), -np.inf, np.float32)
    x[:, [3, 899]] = 1
    for options in ({}, {"top_p": 0.99}, {"top_k": 50}):
        assert set(k.sample(x, seed=1, **options)) == {3, 899}
    assert set(k.sample(np.full((3, 5), -np.inf, np.float32), seed=1)) == {0}
    assert set(k.sample(np.array([[1, np.nan, 2]], np.float32), seed=1)) == {1}


def test_the_same_on_any_number_of_threads(k):
    logits, before = torch.randn(200, 3000, generator=torch.Generator().manual_seed(0)), torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 4):
            torch.set_num_threads(threads)
            found.append([k.sample(logits, seed=5, **o).tolist() for o in OPTIONS])
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": -1.0}, "sample: temperature: expected a number that isn't negative, got -1"),
        ({"temperature": float("nan")}, "sample: temperature"),
        ({"top_p": 0.0}, "sample: top_p: expected 0 < top_p <= 1, got 0"),
        ({"top_p": 1.5}, "sample: top_p"),
        ({"min_p": -0.1}, "sample: min_p: expected 0 <= min_p <= 1, got -0.1"),
        ({"top_k": -1}, "sample: expected top_k >= 0"),
    ],
)
def test_options_out_of_range_and_empty_rows_are_refused(k, options, message):
    with pytest.raises(ValueError, match=message):
        k.sample(np.zeros(4, np.float32), seed=0, **options)
    with pytest.raises(ValueError, match="0 < N"):
        k.argmax(np.zeros((2, 0), np.float32))
