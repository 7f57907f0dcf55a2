"""kernpack_kernels.jax: the arguments and results of JAX's own functions."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")
import jax.numpy as jnp  # noqa: E402  (needs jax)
import kernpack_kernels.jax as kj  # noqa: E402


def normal(*shape):
    return jnp.asarray(np.random.default_rng(len(shape)).normal(size=shape), jnp.float32)


def test_norms_and_their_gradients():
    x, scale = normal(3, 16), normal(16)

    def rms(x):
        return x / jnp.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * scale

    def layer(x):
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-6) * scale

    for ours, theirs in ((kj.rms_norm, rms), (kj.layer_norm, layer)):
        np.testing.assert_allclose(ours(x, scale), theirs(x), atol=1e-5)
        found = jax.jit(jax.grad(lambda x, ours=ours: (ours(x, scale) ** 2).sum()))(x)
        np.testing.assert_allclose(found, jax.grad(lambda x, theirs=theirs: (theirs(x) ** 2).sum())(x), atol=1e-3)


@pytest.mark.parametrize("approximate", [True, False])
def test_gelu_agrees_with_jax(approximate):
    x = normal(64) * 3
    np.testing.assert_allclose(kj.gelu(x, approximate), jax.nn.gelu(x, approximate), atol=1e-6)
    np.testing.assert_allclose(kj.gelu(x), jax.nn.gelu(x), atol=1e-6)


@pytest.mark.parametrize("approximate", [True, False])
def test_gated(approximate):
    gate, up = normal(3, 8) * 3, normal(3, 8, 1)[..., 0]
    np.testing.assert_allclose(kj.silu(gate), jax.nn.silu(gate), atol=1e-6)
    np.testing.assert_allclose(kj.swiglu(gate, up), jax.nn.silu(gate) * up, atol=1e-6)
    expected = jax.nn.gelu(gate, approximate) * up
    np.testing.assert_allclose(kj.geglu(gate, up, approximate), expected, atol=1e-6)
    found = jax.jit(jax.grad(lambda g: kj.geglu(g, up, approximate).sum()))(gate)
    theirs = jax.grad(lambda g: (jax.nn.gelu(g, approximate) * up).sum())(gate)
    np.testing.assert_allclose(found, theirs, atol=1e-5)


def test_norms_without_a_scale_and_with_one_of_another_dtype():
    x = normal(3, 16)
    np.testing.assert_allclose(kj.rms_norm(x), kj.rms_norm(x, jnp.ones(16)), atol=0)
    np.testing.assert_allclose(kj.layer_norm(x), kj.layer_norm(x, jnp.ones(16)), atol=0)
    found = kj.rms_norm(x.astype(jnp.bfloat16), normal(16))
    assert found.dtype == jnp.bfloat16
    np.testing.assert_allclose(found.astype(jnp.float32), kj.rms_norm(x, normal(16)), atol=5e-2)


@pytest.mark.parametrize("tables", [(5, 4), (2, 5, 4)], ids=str)
def test_rope(tables):
    x, angles = normal(2, 5, 3, 8), normal(*tables)
    cos, sin = jnp.cos(angles)[..., None, :], jnp.sin(angles)[..., None, :]
    a, b = x[..., :4], x[..., 4:]
    expected = jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)
    found = jax.jit(kj.rope)(x, jnp.cos(angles), jnp.sin(angles))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_cross_entropy():
    logits, labels = normal(4, 9), jnp.array([0, 8, -100, 3])
    found = kj.softmax_cross_entropy_with_integer_labels(logits, labels)
    expected = jnp.where(labels < 0, 0, -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)[:, 0])
    np.testing.assert_allclose(found, expected, atol=1e-6)
    slope = jax.jit(jax.grad(lambda x: kj.softmax_cross_entropy_with_integer_labels(x, labels).sum()))(logits)
    one_hot = jnp.where(labels[:, None] < 0, 0, jax.nn.softmax(logits) - jax.nn.one_hot(labels, 9))
    np.testing.assert_allclose(slope, one_hot, atol=1e-6)


@pytest.mark.parametrize("causal", [True, False])
def test_attention_with_bias_and_mask(causal):
    q, k, v = normal(2, 5, 4, 16), normal(2, 5, 2, 16), normal(2, 5, 2, 16) + 1
    bias, mask = normal(1, 4, 5, 5), jnp.arange(5)[None, None, None] != jnp.array([1, 3])[:, None, None, None]
    for options in ({"bias": bias}, {"mask": mask}, {"bias": bias, "mask": mask}, {"bias": bias[..., :1]}):
        found = jax.jit(lambda *a, o=options: kj.dot_product_attention(*a, **o, is_causal=causal))(q, k, v)
        theirs = {name: jnp.broadcast_to(value, (2, 4, 5, 5)) for name, value in options.items()}
        expected = jax.nn.dot_product_attention(q, k, v, **theirs, is_causal=causal)
        np.testing.assert_allclose(found, expected, atol=1e-5)
    of_bias = jax.grad(lambda b: (kj.dot_product_attention(q, k, v, b, is_causal=causal) ** 2).sum())(bias)
    theirs = jax.grad(lambda b: (jax.nn.dot_product_attention(q, k, v, b, is_causal=causal) ** 2).sum())(bias)
    np.testing.assert_allclose(of_bias, theirs, atol=1e-4)
    lengths = jnp.array([2, 5], jnp.int32)
    if causal:
        with pytest.raises(ValueError, match="expected is_causal=False with both a mask and lengths"):
            kj.dot_product_attention(q, k, v, bias, is_causal=True, key_value_seq_lengths=lengths)
    else:
        found = kj.dot_product_attention(q, k, v, bias, key_value_seq_lengths=lengths)
        expected = jax.nn.dot_product_attention(q, k, v, bias, key_value_seq_lengths=lengths)
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("causal", [True, False])
def test_attention_agrees_with_jax(causal):
    q, k, v = normal(2, 5, 4, 16), normal(2, 5, 2, 16), normal(2, 5, 2, 16) + 1
    options = {"scale": 0.3, "is_causal": causal}
    found = jax.jit(lambda *a: kj.dot_product_attention(*a, **options))(q, k, v)
    np.testing.assert_allclose(found, jax.nn.dot_product_attention(q, k, v, **options), atol=1e-5)
    if not causal:
        lengths = {"key_value_seq_lengths": jnp.array([2, 5], jnp.int32)}
        expected = jax.nn.dot_product_attention(q, k, v, **lengths)
        np.testing.assert_allclose(kj.dot_product_attention(q, k, v, **lengths), expected, atol=1e-5)


@pytest.mark.parametrize("axis", [-3, -2, -1, 0, 1, 2])
def test_softmax_over_any_axis(axis):
    x, w = normal(2, 3, 4), normal(2, 3, 4)[::-1]
    np.testing.assert_allclose(kj.softmax(x, axis), jax.nn.softmax(x, axis), atol=1e-6)
    found = jax.jit(jax.grad(lambda x: (kj.softmax(x, axis) * w).sum()))(x)
    np.testing.assert_allclose(found, jax.grad(lambda x: (jax.nn.softmax(x, axis) * w).sum())(x), atol=1e-6)
    assert kj.softmax(jnp.zeros((2, 0, 4)), axis).shape == (2, 0, 4)
    with pytest.raises(ValueError, match="softmax: axis: expected -3 to 2 for an array of 3 axes, got 3"):
        kj.softmax(x, 3)


@pytest.mark.parametrize("shape", [(6,), (6, 4), (6, 2, 3), (0, 2)], ids=str)
def test_segments_in_any_order(shape):
    x, ids = normal(*shape), jnp.asarray([3, 0, 3, 1, 3, 0][: shape[0]], jnp.int32)
    found, expected = kj.segment_sum(x, ids, 5), jax.ops.segment_sum(x, ids, 5)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    found = jax.jit(jax.grad(lambda x: (kj.segment_sum(x, ids, 5) ** 2).sum()))(x)
    np.testing.assert_allclose(found, jax.grad(lambda x: (jax.ops.segment_sum(x, ids, 5) ** 2).sum())(x), atol=1e-5)
