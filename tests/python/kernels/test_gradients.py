"""Every backward op against central differences of the float64 references."""

import numpy as np
import pytest
import reference

RNG = np.random.default_rng(1)
X, W, B = RNG.normal(size=(3, 9)), RNG.normal(size=9), RNG.normal(size=9)
D = RNG.normal(size=(3, 9))


def slope(f, x, d_out, step=1e-6):
    """d sum(d_out * f(x)) / dx."""
    grad = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        grad[i] = ((f(up) - f(down)) * d_out).sum() / (2 * step)
    return grad


def check(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_layer_norm(k):
    d_x, d_weight, d_bias = k.layer_norm_backward(D, X, W, eps=1e-5)
    check(d_x, slope(lambda x: reference.layer_norm(x, W, B), X, D))
    check(d_weight, slope(lambda w: reference.layer_norm(X, w, B), W, D))
    check(d_bias, D.sum(0))


def test_rms_norm(k):
    d_x, d_weight = k.rms_norm_backward(D, X, W, eps=1e-6)
    check(d_x, slope(lambda x: reference.rms_norm(x, W), X, D))
    check(d_weight, slope(lambda w: reference.rms_norm(X, w), W, D))


def test_softmax_backward_agrees_with_differences(k):
    check(k.softmax_backward(D, reference.softmax(X)), slope(reference.softmax, X, D))


@pytest.mark.parametrize("kind", ["none", "tanh"])
def test_gelu_backward_agrees_with_differences(k, kind):
    check(k.gelu_backward(D, X, approximate=kind), slope(lambda x: reference.gelu(x, kind), X, D))
    single = k.gelu_backward(D.astype(np.float32), X.astype(np.float32), approximate=kind)
    np.testing.assert_allclose(single, slope(lambda x: reference.gelu(x, kind), X, D), rtol=1e-5, atol=1e-6)


def test_l2_normalize(k):
    check(k.l2_normalize_backward(D, X, eps=1e-12), slope(reference.l2_normalize, X, D))
    check(k.l2_normalize_backward(D, X, eps=100.0), D / 100)


def test_mean_pool(k):
    x, d_out = RNG.normal(size=(2, 4, 3)), RNG.normal(size=(2, 3))
    mask = np.array([[1, 0, 1, 1], [0, 0, 0, 0]])
    check(k.mean_pool_backward(d_out, mask), slope(lambda v: reference.mean_pool(v, mask), x, d_out))


def test_embedding_backward_adds_up_repeated_rows(k):
    table, indices = RNG.normal(size=(5, 3)), np.array([[4, 0], [4, 1]])
    d_out = RNG.normal(size=(2, 2, 3))
    check(k.embedding_backward(d_out, table, indices), slope(lambda t: t[indices], table, d_out))


def test_weight_gradients_do_not_depend_on_the_machine(k):
    """Sums over rows are cut by shape, not by thread: the same bits on every run."""
    x = np.random.default_rng(2).normal(size=(2000, 128)).astype(np.float32)
    first = k.layer_norm_backward(x, x, np.ones(128, np.float32), eps=1e-5)[1]
    for _ in range(5):
        np.testing.assert_array_equal(k.layer_norm_backward(x, x, np.ones(128, np.float32), eps=1e-5)[1], first)
    np.testing.assert_allclose(first, (x * reference.layer_norm(x.astype(np.float64), 1.0)).sum(0), rtol=1e-4)
