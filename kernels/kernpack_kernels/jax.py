"""Functions with the layouts of JAX's own libraries over the kernels: plain functions, for jit, grad and vmap as any other."""

from __future__ import annotations

import jax
import kernpack

K = kernpack.load("kernpack_kernels")


def rms_norm(x: jax.Array, scale: jax.Array, epsilon: float = 1e-6) -> jax.Array:
    """As flax.linen.RMSNorm computes it."""
    return K.rms_norm(x, scale, eps=epsilon)


def layer_norm(x: jax.Array, scale: jax.Array, bias: jax.Array | None = None, epsilon: float = 1e-6) -> jax.Array:
    """As flax.linen.LayerNorm computes it, its epsilon included."""
    return K.layer_norm(x, scale, bias, eps=epsilon)


def gelu(x: jax.Array, approximate: bool = True) -> jax.Array:
    """As jax.nn.gelu, its default included."""
    return K.gelu(x, approximate="tanh" if approximate else "none")


def dot_product_attention(
    query: jax.Array,
    key: jax.Array,
    value: jax.Array,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    key_value_seq_lengths: jax.Array | None = None,
) -> jax.Array:
    """As jax.nn.dot_product_attention: query [B, T, N, H], key and value [B, S, K, H], without a matrix of all scores.

    With is_causal the last query sees all keys, as beside a KV cache; where T is S that is what JAX does.
    """
    return K.attention(query, key, value, key_value_seq_lengths, scale=scale, causal=is_causal)
