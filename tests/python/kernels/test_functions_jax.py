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
