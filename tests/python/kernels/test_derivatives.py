"""Forward mode and second order of every op, called as functions, next to derivatives of the references by complex steps."""

import edges
import numpy as np
import pytest
import reference
import torch
from arrays import DTYPES, get_values, make
from derivatives import jvp, vjp
from edges import assert_near

KINDS = ("none", "tanh")
ROWS, WIDTH = 3, 5


class Arrays:
    """Random arrays of a dtype; `large`: of magnitudes whose squares and cubes leave the range of f32."""

    def __init__(self, dtype, scale=1.0):
        self.dtype, self.scale, self.rng = dtype, scale, np.random.default_rng(5)

    def __call__(self, *shape, scale=None):
        return make(self.rng.normal(size=shape) * (self.scale if scale is None else scale), self.dtype)


def scales(dtype):
    return {"f32": (1.0, 1e-25, 1e25), "bf16": (1.0, 1e25), "f16": (1.0, 1e4), "f64": (1.0, 1e-170, 1e170)}[dtype]


def check(found, expected, dtype, factor=16):
    """Each result near the expected one, beside the largest value of its own."""
    found = found if isinstance(found, tuple) else (found,)
    for f, e in zip(found, expected, strict=True):
        assert_near(f, e, dtype, np.abs(e).max(initial=0), factor)


def each_scale(test):
    return pytest.mark.parametrize(("dtype", "scale"), [(d, s) for d in DTYPES for s in scales(d)])(test)


@each_scale
def test_layer_norm(k, dtype, scale):
    new = Arrays(dtype, scale)
    (x, x64), (t_x, tx64), (d_x, dx64) = new(ROWS, WIDTH), new(ROWS, WIDTH), new(ROWS, WIDTH, scale=1)
    (w, w64), (_b, b64), (t_w, tw64), (t_b, tb64) = (new(WIDTH, scale=1) for _ in range(4))
    (d, d64), (t_d, td64) = new(ROWS, WIDTH, scale=1), new(ROWS, WIDTH, scale=1)
    eps = min(1e-5, 1e-3 * scale * scale)

    def forward(x, w, b):
        return (reference.layer_norm(x, w, b, eps),)

    def backward(d, x, w):
        return reference.layer_norm_backward(d, x, w, eps)

    check(k.layer_norm_jvp(x, w, t_x, t_w, t_b, eps=eps), jvp(forward, (x64, w64, b64), (tx64, tw64, tb64)), dtype)
    check(k.layer_norm_jvp(x, w, None, t_w, None, eps=eps), jvp(forward, (x64, w64, b64), (None, tw64, None)), dtype)
    at = (d64, x64, w64)
    check(k.layer_norm_backward_jvp(d, x, w, t_d, t_x, t_w, eps=eps), jvp(backward, at, (td64, tx64, tw64)), dtype)
    check(k.layer_norm_backward_jvp(d, x, w, None, t_x, None, eps=eps), jvp(backward, at, (None, tx64, None)), dtype)
    found = k.layer_norm_backward_backward(d_x, t_w, t_b, d, x, w, eps=eps)
    check(found, vjp(backward, at, (dx64, tw64, tb64)), dtype)
    found = k.layer_norm_backward_backward(None, None, t_b, d, x, w, eps=eps)
    check(found, vjp(backward, at, (0 * dx64, 0 * tw64, tb64)), dtype)


@each_scale
def test_rms_norm(k, dtype, scale):
    new = Arrays(dtype, scale)
    (x, x64), (t_x, tx64), (d_x, dx64) = new(ROWS, WIDTH), new(ROWS, WIDTH), new(ROWS, WIDTH, scale=1)
    (w, w64), (t_w, tw64) = new(WIDTH, scale=1), new(WIDTH, scale=1)
    (d, d64), (t_d, td64) = new(ROWS, WIDTH, scale=1), new(ROWS, WIDTH, scale=1)
    eps = min(1e-5, 1e-3 * scale * scale)

    def forward(x, w):
        return (reference.rms_norm(x, w, eps),)

    def backward(d, x, w):
        return reference.rms_norm_backward(d, x, w, eps)

    check(k.rms_norm_jvp(x, w, t_x, t_w, eps=eps), jvp(forward, (x64, w64), (tx64, tw64)), dtype)
    at = (d64, x64, w64)
    check(k.rms_norm_backward_jvp(d, x, w, t_d, t_x, t_w, eps=eps), jvp(backward, at, (td64, tx64, tw64)), dtype)
    check(k.rms_norm_backward_backward(d_x, t_w, d, x, w, eps=eps), vjp(backward, at, (dx64, tw64)), dtype)
    found = k.rms_norm_backward_backward(None, t_w, d, x, w, eps=eps)
    check(found, vjp(backward, at, (0 * dx64, tw64)), dtype)


@pytest.mark.parametrize("eps_factor", [1e-3, 100.0])
@each_scale
def test_l2_normalize(k, dtype, scale, eps_factor):
    """Above eps and, with the larger one, below it."""
    new = Arrays(dtype, scale)
    (x, x64), (t_x, tx64), (d_x, dx64) = new(ROWS, WIDTH), new(ROWS, WIDTH), new(ROWS, WIDTH, scale=1)
    (d, d64), (t_d, td64) = new(ROWS, WIDTH, scale=1), new(ROWS, WIDTH, scale=1)
    eps = eps_factor * scale

    def forward(x):
        return (reference.l2_normalize(x, eps),)

    def backward(d, x):
        return reference.l2_normalize_backward(d, x, eps)

    check(k.l2_normalize_jvp(t_x, x, eps=eps), jvp(forward, (x64,), (tx64,)), dtype)
    check(k.l2_normalize_backward_jvp(d, x, t_d, t_x, eps=eps), jvp(backward, (d64, x64), (td64, tx64)), dtype)
    check(k.l2_normalize_backward_backward(d_x, d, x, eps=eps), vjp(backward, (d64, x64), (dx64,)), dtype)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_derivatives_of_gelu_are_exact_up_to_infinity(k, dtype, kind):
    """To +-1e5 and beyond: where the slopes have become constant, the second is 0."""
    x, x64 = make([*edges.finite_values(dtype), np.inf, -np.inf], dtype)
    first, second = reference.gelu_slopes(x64, kind)
    (d, d64), (t, t64), (t_d, td64) = (
        make(np.resize(v, x64.shape), dtype) for v in ([1.0, -3.0], [2.0, 0.5, -1.0], [0.25])
    )
    size = 1e-5 * edges.RESOLUTION["f32"] / edges.RESOLUTION[dtype] if dtype == "f64" else 1e-3
    check_at = {"size": size + np.abs(first), "factor": 16}
    assert_near(
        k.gelu_jvp(t, x, approximate=kind),
        t64 * first,
        dtype,
        size=3 * np.maximum(np.abs(first), 1.5e-5 / edges.RESOLUTION[dtype] / 48),
        factor=16,
    )
    found = k.gelu_backward_jvp(d, x, t_d, t, approximate=kind)
    assert_near(found, td64 * first + d64 * second * t64, dtype, **check_at)
    assert_near(k.gelu_backward_jvp(d, x, t_d, None, approximate=kind), td64 * first, dtype, **check_at)
    d_d_out, d_x = k.gelu_backward_backward(t, d, x, approximate=kind)
    assert_near(d_d_out, t64 * first, dtype, **check_at)
    assert_near(d_x, d64 * second * t64, dtype, **check_at)


def softmax_parts(dtype):
    new = Arrays(dtype)
    probs, p64 = make(reference.softmax(new.rng.normal(0, 3, (2, ROWS, WIDTH))), dtype)
    return new, probs, p64


@pytest.mark.parametrize("dtype", DTYPES)
def test_derivatives_of_softmax_are_exact(k, dtype):
    new, probs, p64 = softmax_parts(dtype)
    (u, u64), (d, d64), (t_d, td64), (t_p, tp64) = (new(2, ROWS, WIDTH) for _ in range(4))
    at = (d64, p64)
    backward = reference.softmax_backward
    check(k.softmax_jvp(probs, u, None), backward(*(np.asarray(a, np.longdouble) for a in (u64, p64))), dtype)
    check(k.softmax_backward_jvp(d, probs, t_d, t_p), jvp(backward, at, (td64, tp64)), dtype)
    check(k.softmax_backward_jvp(d, probs, None, t_p), jvp(backward, at, (None, tp64)), dtype)
    check(k.softmax_backward_backward(u, d, probs), vjp(backward, at, (u64,)), dtype)


MASKS = [(2, 1, WIDTH), (1, ROWS, WIDTH), (2, ROWS, WIDTH), (1, 1, WIDTH)]


@pytest.mark.parametrize("shape", MASKS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_softmax_mask(k, dtype, shape):
    new, probs, p64 = softmax_parts(dtype)
    mask, _m64 = new(*shape)
    (t_m, tm64), (u, u64) = new(*shape), new(*shape)
    (x, x64), (d, d64), (t_d, td64), (t_p, tp64) = (new(2, ROWS, WIDTH) for _ in range(4))

    def backward(d, p):
        return (reference.summed_to(reference.softmax_backward(d, p)[0], shape),)

    at = (d64, p64)
    check(k.softmax_mask_backward(d, probs, mask), backward(*(np.asarray(a, np.longdouble) for a in at)), dtype)
    along = np.asarray(x64 + tm64, np.longdouble)
    check(k.softmax_jvp(probs, x, t_m), reference.softmax_backward(along, np.asarray(p64, np.longdouble)), dtype)
    check(k.softmax_mask_backward_jvp(d, probs, mask, t_d, t_p, None), jvp(backward, at, (td64, tp64)), dtype)
    check(k.softmax_mask_backward_backward(u, d, probs), vjp(backward, at, (u64,)), dtype)
    assert not get_values(k.softmax_mask_backward_zero(mask)).any()


@pytest.mark.parametrize(
    "name", ["softmax_mask_backward", "softmax_mask_backward_jvp", "softmax_mask_backward_backward"]
)
@pytest.mark.parametrize("shape", [(3, 5), (1, 1, 5), (5,), (2, 1), (), (0, 5)], ids=str)
def test_a_mask_that_does_not_fit_is_refused(k, name, shape):
    probs, mask = np.zeros((2, 5)), np.zeros(shape)
    first = (mask, probs, probs) if name.endswith("backward_backward") else (probs, probs, mask)
    rest = (None, None, None) if name.endswith("jvp") else ()
    with pytest.raises(ValueError, match=rf"{name}: (mask|d_d_mask): expected the shape of probs, or 1"):
        getattr(k, name)(*first, *rest)


@pytest.mark.parametrize("dtype", DTYPES)
def test_linear_ops(k, dtype):
    """mean_pool and embedding: tangents and second order are the op, or its gradient, again."""
    new = Arrays(dtype)
    (x, x64), (d, d64) = new(2, ROWS, WIDTH), new(2, WIDTH)
    mask = np.array([[1, 0, 1], [0, 0, 0]], np.int32)
    given = torch.from_numpy(mask) if isinstance(x, torch.Tensor) else mask
    for op in (k.mean_pool_jvp, k.mean_pool_backward_backward):
        check(op(x, given), (reference.mean_pool(x64, mask),), dtype)
    check(k.mean_pool_backward_jvp(d, given), (reference.mean_pool_backward(d64, mask),), dtype)
    (table, t64), indices = new(7, WIDTH), np.array([[1, 6, 1], [0, 2, 2]])
    given = torch.from_numpy(indices) if isinstance(x, torch.Tensor) else indices
    for op in (k.embedding_jvp, k.embedding_backward_backward):
        np.testing.assert_array_equal(get_values(op(table, given)), t64[indices])
    expected = np.zeros_like(t64)
    np.add.at(expected, indices, x64)
    check(k.embedding_backward_jvp(x, None, table, given), (expected,), dtype)
    assert not get_values(k.embedding_backward_zero(table)).any()


@pytest.mark.parametrize("name", ["embedding_jvp", "embedding_backward_backward", "embedding_backward_jvp"])
def test_an_index_out_of_range_is_named(k, name):
    table, indices = np.zeros((4, 2)), np.array([0, 4])
    args = (np.zeros((2, 2)), None, table, indices) if name == "embedding_backward_jvp" else (table, indices)
    with pytest.raises(IndexError, match=f"{name}: indices: element 1 is 4, out of range for a table of 4 rows"):
        getattr(k, name)(*args)
