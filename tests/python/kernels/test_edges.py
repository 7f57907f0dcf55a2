"""Every op and its gradient far from N(0, 1): to +-1e5 and the largest values, at zeros of both signs, subnormals, infinities and
NaN, in every dtype, next to a reference in a wider type."""

import edges
import numpy as np
import pytest
import reference
import torch
from arrays import DTYPES, get_values, make
from edges import assert_near

KINDS = ("none", "tanh")
WIDTH = 7


def wide(*arrays):
    return tuple(np.asarray(a, np.longdouble) for a in arrays)


# Largest absolute error beside the relative one: where GELU's two terms cancel, and where f32's polynomials end.
GELU_ABSOLUTE = {"f32": 2e-7, "f64": 0.0, "f16": 1.5e-5, "bf16": 1.5e-5}


def decay(x, kind):
    """An upper bound of GELU and its slope left of zero, times the conditioning of exp there."""
    a = np.abs(np.clip(x, -200, 200))
    v = a * a / 2 if kind == "none" else 1.5957691 * a + 0.0713548 * a**3
    return np.minimum(1, np.exp(-v) * (1 + a + (0 if kind == "none" else a**3)) * (1 + v))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_gelu_is_exact_for_every_finite_value(k, dtype, kind):
    x, x64 = make(edges.finite_values(dtype), dtype)
    slope, _ = reference.gelu_slopes(x64, kind)
    near = np.clip(x64, -200, 200)
    expected = np.where(x64 > 200, x64, np.where(x64 < -200, 0, reference.gelu(near, kind)))
    size = decay(x64, kind) + GELU_ABSOLUTE[dtype] / edges.RESOLUTION[dtype] / 4
    assert_near(k.gelu(x, approximate=kind), expected, dtype, size * np.abs(near), 8)
    largest, _, subnormal = edges.LIMITS[dtype]
    for scale in (1.0, -2.5, largest, subnormal):
        d_out, d64 = make(np.full(x64.shape, scale), dtype)
        found = k.gelu_backward(d_out, x, approximate=kind)
        assert_near(found, d64.astype(np.longdouble) * slope, dtype, size * np.abs(d64), 8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_gelu_beyond(k, dtype, kind):
    """At the infinities the limits; NaN stays NaN."""
    x, _ = make([np.inf, -np.inf, np.nan], dtype)
    ones, _ = make([1.0] * 3, dtype)
    np.testing.assert_array_equal(get_values(k.gelu(x, approximate=kind)), [np.inf, 0, np.nan])
    np.testing.assert_array_equal(get_values(k.gelu_backward(ones, x, approximate=kind)), [1, 0, np.nan])


def rows(dtype, seed=0):
    """Rows of every magnitude, of several at once, of the extremes of both signs, far from zero, all alike, and of zeros."""
    rng = np.random.default_rng(seed)
    largest, _, subnormal = edges.LIMITS[dtype]
    steps = np.array([m for m in edges.magnitudes(dtype) if m > 0])
    pattern = np.clip(rng.normal(size=(len(steps), WIDTH)), -1, 1)
    mixed = rng.choice(steps[steps <= 1e5], (6, WIDTH)) * rng.choice([-1, 1], (6, WIDTH))
    others = [[largest, -largest] * 3 + [0], [largest] * 6 + [-largest], [subnormal, -subnormal] * 3 + [0.0]]
    far = 1000 + np.arange(WIDTH)
    return np.concatenate([pattern * steps[:, None], mixed, others, [far, [0.0] * WIDTH, [-0.0] * WIDTH]])


def weights(dtype):
    return make([1.0, -0.5, 2.0, 0.0, 1e-5, -1e4, 3.0], dtype)


def grads(dtype, count):
    d = np.random.default_rng(9).normal(size=(count, WIDTH))
    return [make(d * scale, dtype) for scale in (1.0, min(1e5, edges.LIMITS[dtype][0] / 8))]


def alone(k, backward, d_out, x, *args, **kwargs):
    """A backward op a row at a time, so that the sums over rows are seen too: the results stacked."""
    found = [backward(d_out[i : i + 1], x[i : i + 1], *args, **kwargs) for i in range(len(x))]
    if not isinstance(found[0], tuple):
        return (np.stack([get_values(f)[0] for f in found]),)
    return (
        np.stack([get_values(f[0])[0] for f in found]),
        *(np.stack([get_values(f[n]) for f in found]) for n in range(1, len(found[0]))),
    )


def find_largest(*arrays):
    return sum(np.abs(a).max(-1, keepdims=True) for a in arrays)


@pytest.mark.parametrize("eps", [1e-5, 0.0])
@pytest.mark.parametrize("dtype", DTYPES)
def test_layer_norm(k, dtype, eps):
    x, x64 = make(rows(dtype), dtype)
    varied = (x64 != x64[:, :1]).any(-1) | (eps > 0)
    x, (x64,) = x[varied], wide(x64[varied])
    w, w64 = weights(dtype)
    unit, scale = reference._centred(x64, eps)
    far = np.abs(x64).max(-1, keepdims=True) * scale  # how much the distance from the mean is rounded
    assert_near(k.layer_norm(x, w, eps=eps), unit * w64, dtype, (np.abs(unit) + far + 1) * np.abs(w64))
    for d, d64 in grads(dtype, len(x)):
        (d64,) = wide(d64)
        g = d64 * w64
        size = find_largest(g) * scale * (1 + find_largest(unit)) * (1 + far)
        parts = alone(k, k.layer_norm_backward, d, x, w, eps=eps)
        expected = [reference.layer_norm_backward(d64[i : i + 1], x64[i : i + 1], w64, eps) for i in range(len(x64))]
        assert_near(parts[0], np.stack([e[0][0] for e in expected]), dtype, size, 8)
        assert_near(parts[1], np.stack([e[1] for e in expected]), dtype, np.abs(d64) * (np.abs(unit) + far + 1))
        assert_near(parts[2], np.stack([e[2] for e in expected]), dtype)


def plain_norm(k, name, dtype, eps):
    forward, backward = getattr(k, name), getattr(k, name + "_backward")
    x, x64 = make(rows(dtype, 1), dtype)
    used = x64.any(-1) | (eps > 0)
    x, (x64,) = x[used], wide(x64[used])
    w, w64 = weights(dtype)
    given, given64 = ((w,), (w64,)) if name == "rms_norm" else ((), ())
    expected = getattr(reference, name)(x64, *given64, eps)
    normal = edges.LIMITS[dtype][1]  # x / length may fall below it before the weight multiplies it
    assert_near(forward(x, *given, eps=eps), expected, dtype, np.abs(w64) * normal)
    for d, d64 in grads(dtype, len(x)):
        (d64,) = wide(d64)
        parts = alone(k, backward, d, x, *given, eps=eps)
        rows64 = [
            getattr(reference, name + "_backward")(d64[i : i + 1], x64[i : i + 1], *given64, eps)
            for i in range(len(x64))
        ]
        scale = (
            1 / np.sqrt((x64**2).mean(-1, keepdims=True) + eps)
            if given
            else 1 / np.maximum(reference._length(x64), eps)
        )
        size = find_largest(d64 * w64 if given else d64) * scale * WIDTH
        assert_near(parts[0], np.stack([r[0][0] for r in rows64]), dtype, size)
        if given:
            assert_near(parts[1], np.stack([r[1] for r in rows64]), dtype, np.abs(d64) * normal)


@pytest.mark.parametrize("eps", [1e-6, 0.0])
@pytest.mark.parametrize("dtype", DTYPES)
def test_rms_norm(k, dtype, eps):
    plain_norm(k, "rms_norm", dtype, eps)


@pytest.mark.parametrize("eps", [1e-12, 0.0])
@pytest.mark.parametrize("dtype", DTYPES)
def test_l2_normalize(k, dtype, eps):
    plain_norm(k, "l2_normalize", dtype, eps)


@pytest.mark.parametrize("dtype", DTYPES)
def test_softmax_is_exact_for_extreme_rows(k, dtype):
    x, x64 = make(rows(dtype, 2), dtype)
    (expected,) = wide(reference.softmax(*wide(x64)))
    distance = np.where(expected > 0, x64.max(-1, keepdims=True) - np.where(expected > 0, x64, 0), 0)
    assert_near(
        k.softmax(x),
        expected,
        dtype,
        expected * (1 + distance) + (0 if dtype == "f64" else 2.0**-126 / edges.RESOLUTION[dtype]),
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_softmax_backward(k, dtype):
    rng = np.random.default_rng(3)
    d, d64 = make(rows(dtype, 3), dtype)
    probs, p64 = make(reference.softmax(rng.normal(0, 3, d64.shape)), dtype)
    d64, p64 = wide(d64, p64)
    p64 = p64 / p64.sum(-1, keepdims=True) if dtype == "f64" else p64
    (expected,) = reference.softmax_backward(d64, p64)
    assert_near(k.softmax_backward(d, probs), expected, dtype, find_largest(d64) * p64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_mean_pool(k, dtype):
    x, x64 = make(rows(dtype, 4)[:, None, :].repeat(3, 1), dtype)
    mask = np.ones(x64.shape[:2], np.int32)
    given = torch.from_numpy(mask) if isinstance(x, torch.Tensor) else mask
    (x64,) = wide(x64)
    assert_near(k.mean_pool(x, given), x64.mean(1), dtype)
    d, d64 = make(rows(dtype, 5), dtype)
    assert_near(k.mean_pool_backward(d, given), np.stack([wide(d64)[0] / 3] * 3, 1), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_embedding_copies_every_value_unchanged(k, dtype):
    table, t64 = make(np.concatenate([rows(dtype, 6), [[np.inf, -np.inf, np.nan, 0, -0.0, 1, 2]]]), dtype)
    indices = np.arange(len(t64))[::-1].copy()
    given = torch.from_numpy(indices) if isinstance(table, torch.Tensor) else indices
    np.testing.assert_array_equal(get_values(k.embedding(table, given)), t64[indices])
    np.testing.assert_array_equal(get_values(k.embedding_backward(table, table, given)), t64[indices])


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("dtype", DTYPES)
def test_no_number_spoils_its_own_row_only(k, dtype, value):
    """Gradients at it are NaN, as PyTorch's are; other rows are as they would be without."""
    clean, _ = make(np.random.default_rng(7).normal(size=(3, 37)), dtype)
    bad, _ = make(get_values(clean).copy(), dtype)
    bad[1, 20] = value
    w, _ = make(np.ones(37), dtype)
    for run in (
        lambda x: k.layer_norm_backward(clean, x, w, eps=1e-5)[0],
        lambda x: k.rms_norm_backward(clean, x, w, eps=1e-6)[0],
        lambda x: k.l2_normalize_backward(clean, x, eps=1e-12),
        lambda x: k.softmax_backward(x, k.softmax(clean)),
        lambda x: k.layer_norm_backward(x, clean, w, eps=1e-5)[0],
        lambda x: k.rms_norm_backward(x, clean, w, eps=1e-6)[0],
        lambda x: k.l2_normalize_backward(x, clean, eps=1e-12),
    ):
        found, expected = get_values(run(bad)), get_values(run(clean))
        assert not np.isfinite(found[1, 20])
        np.testing.assert_array_equal(found[[0, 2]], expected[[0, 2]])


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_without_a_norm(k, dtype):
    """As docs/kernels.md has it."""
    w, _ = make(np.ones(4), dtype)
    infinite, _ = make([[1, -np.inf, 0, 2]], dtype)
    zeros, _ = make([[0.0, -0.0, 0, 0]], dtype)
    d, d64 = make([[1, -2, 3, 0.5]], dtype)
    assert np.isnan(get_values(k.layer_norm(infinite, w))).all()
    for out in (k.rms_norm(infinite, w), k.l2_normalize(infinite)):
        np.testing.assert_array_equal(get_values(out), [[0, np.nan, 0, 0]])
    for run in (k.layer_norm, k.rms_norm):
        assert not get_values(run(zeros, w)).any()
        assert np.isnan(get_values(run(zeros, w, eps=0.0))).all()
    assert np.isnan(get_values(k.l2_normalize(zeros, eps=0.0))).all()
    np.testing.assert_allclose(get_values(k.l2_normalize_backward(d, zeros, eps=0.25)), 4 * d64)
    for backward in (k.layer_norm_backward, k.rms_norm_backward):
        assert np.isfinite(get_values(backward(d, zeros, w, eps=1e-5)[0])).all()
        assert np.isnan(get_values(backward(d, zeros, w, eps=0.0)[0])).all()


def test_empty_batches_of_several_dims(k):
    """A mask's row was looked up by a division by the batch's sizes."""
    empty, row = np.zeros((0, 0, 6), np.float32), np.zeros((1, 1, 6), np.float32)
    assert k.softmax(empty, row).shape == (0, 0, 6)
    assert [part.shape for part in k.softmax_backward_backward(empty, empty, empty)] == [(0, 0, 6)] * 2
    assert [part.shape for part in k.softmax_mask_backward_backward(row, empty, empty)] == [(0, 0, 6)] * 2
    assert k.softmax_jvp(empty, empty, row).shape == (0, 0, 6)
