"""Functions with the layouts of JAX's own libraries over the kernels: plain functions, for jit, grad and vmap as any other."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import kernpack

K = kernpack.load("kernpack_kernels")


def rms_norm(x: jax.Array, scale: jax.Array | None = None, epsilon: float = 1e-6) -> jax.Array:
    """As flax.linen.RMSNorm computes it; scale may have another dtype than x, whose dtype the result has."""
    return K.rms_norm(x, _scale(x, scale), eps=epsilon)


def layer_norm(
    x: jax.Array, scale: jax.Array | None = None, bias: jax.Array | None = None, epsilon: float = 1e-6
) -> jax.Array:
    """As flax.linen.LayerNorm computes it, its epsilon included; bias has scale's dtype."""
    return K.layer_norm(x, _scale(x, scale), bias, eps=epsilon)


def _scale(x: jax.Array, scale: jax.Array | None) -> jax.Array:
    return jnp.ones(x.shape[-1], x.dtype) if scale is None else scale


def gelu(x: jax.Array, approximate: bool = True) -> jax.Array:
    """As jax.nn.gelu, its default included."""
    return K.gelu(x, approximate="tanh" if approximate else "none")


def softmax(x: jax.Array, axis: int = -1) -> jax.Array:
    """As jax.nn.softmax, over any one axis; elements that are all -inf give zeros."""
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"softmax: axis: expected -{x.ndim} to {x.ndim - 1} for an array of {x.ndim} axes, got {axis}")
    axis %= x.ndim
    if axis == x.ndim - 1:
        return K.softmax(x)
    behind = math.prod(x.shape[axis + 1 :])
    return K.softmax_columns(x.reshape(*x.shape[: axis + 1], behind)).reshape(x.shape)


def segment_sum(data: jax.Array, segment_ids: jax.Array, num_segments: int) -> jax.Array:
    """As jax.ops.segment_sum with all ids from 0 to num_segments - 1, in any order; another id is an error."""
    rows = data.reshape(data.shape[0], math.prod(data.shape[1:]))
    return K.scatter_sum(rows, segment_ids, rows=num_segments).reshape(num_segments, *data.shape[1:])


def silu(x: jax.Array) -> jax.Array:
    """As jax.nn.silu."""
    return K.silu(x)


def swiglu(gate: jax.Array, up: jax.Array) -> jax.Array:
    """silu(gate) * up."""
    return K.swiglu(gate, up)


def geglu(gate: jax.Array, up: jax.Array, approximate: bool = True) -> jax.Array:
    """gelu(gate) * up, with jax.nn.gelu's default."""
    return K.geglu(gate, up, approximate="tanh" if approximate else "none")


def rope(x: jax.Array, cos: jax.Array, sin: jax.Array, interleaved: bool = False) -> jax.Array:
    """Rotary embedding of x [B, T, N, H] by tables [T, R] or [B, T, R], R at most H / 2, in f32."""
    tables = [table.astype(jnp.float32) for table in (cos, sin)]
    return K.rope(x, *(table[None] if table.ndim < x.ndim - 1 else table for table in tables), interleaved=interleaved)


def softmax_cross_entropy_with_integer_labels(
    logits: jax.Array, labels: jax.Array, ignore_index: int = -100, label_smoothing: float = 0.0, z_loss: float = 0.0
) -> jax.Array:
    """As optax's function of this name: a loss for each label, in f32; 0 where the label is ignore_index."""
    return K.cross_entropy(logits, labels, ignore_index=ignore_index, label_smoothing=label_smoothing, z_loss=z_loss)


def dot_product_attention(
    query: jax.Array,
    key: jax.Array,
    value: jax.Array,
    bias: jax.Array | None = None,
    mask: jax.Array | None = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    key_value_seq_lengths: jax.Array | None = None,
) -> jax.Array:
    """As jax.nn.dot_product_attention: query [B, T, N, H], key and value [B, S, K, H], without a matrix of all scores. A bias and a
    boolean mask broadcast to [B, N, T, S]; the bias has a gradient.

    With is_causal the last query sees all keys, as beside a KV cache; where T is S that is what JAX does.
    """
    if bias is None and mask is None:
        return K.attention(query, key, value, key_value_seq_lengths, scale=scale, causal=is_causal)
    keys = key.shape[1]
    if key_value_seq_lengths is not None:
        if is_causal:  # attention's causal rows end at the lengths, masked_attention's at the last key
            raise ValueError(
                "dot_product_attention: expected is_causal=False with both a mask and lengths: mask the keys"
            )
        within = (jnp.arange(keys) < key_value_seq_lengths[:, None])[:, None, None]
        mask = within if mask is None else mask & within
    added = mask if bias is None else bias if mask is None else jnp.where(mask, bias, -jnp.inf)
    assert added is not None
    added = jnp.broadcast_to(added, (*added.shape[:3], keys))
    return K.masked_attention(query, key, value, added, scale=scale, causal=is_causal)
