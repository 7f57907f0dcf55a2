"""The model in JAX: a jitted forward pass whose cache is donated, and a greedy answer as one lax.scan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gguf_file import GgufFile, Sizes
from jax import lax
from packed import KEPT, PackedWeights, Progress, beside, pack_file

Layers = list[tuple[jax.Array, jax.Array]]  # of each layer its keys and values [1, capacity, groups, head_width]


class Cache:
    """Keys and values of the tokens so far, in one page of all of the capacity: every step has the same shapes."""

    def __init__(self, weights: PackedWeights, capacity: int) -> None:
        sizes = weights.sizes
        shape = (1, capacity, sizes.groups, sizes.head_width)
        self.layers: Layers = [(jnp.zeros(shape, KEPT), jnp.zeros(shape, KEPT)) for _ in range(sizes.layers)]
        self.angles = tuple(map(jnp.asarray, weights.angles(capacity)))
        self.capacity, self.length = capacity, 0


def _layer(k: Any, sizes: Sizes, w: dict[str, Any], x, begin, angles, keys, values):
    """One layer over tokens from position `begin` on: its result, and keys and values with those of the tokens written."""
    h = k.rms_norm(x, w["attn_norm"], eps=sizes.eps)
    qkv = beside(k, h, w["qkv"], jnp.concatenate).reshape(len(x), -1, sizes.head_width)
    rotated = k.rope(qkv[:, : sizes.heads + sizes.groups], *angles, interleaved=True)
    page = jnp.zeros((1, 1), jnp.int32), (begin + len(x)).astype(jnp.int32)[None]
    keys = k.paged_store(keys, rotated[None, :, sizes.heads :], *page)
    values = k.paged_store(values, qkv[None, :, sizes.heads + sizes.groups :], *page)
    seen = k.paged_attention(rotated[None, :, : sizes.heads], keys, values, *page)
    x = k.packed_linear(seen.reshape(len(x), -1), w["attn_output"], w["attn_output_bias"], residual=x)
    h = k.rms_norm(x, w["ffn_norm"], eps=sizes.eps)
    gate, up = jnp.split(beside(k, h, w["gate_up"], jnp.concatenate), 2, -1)
    return k.packed_linear(k.swiglu(gate, up), w["ffn_down"], w["ffn_down_bias"], residual=x), keys, values


class Model:
    def __init__(self, k: Any, file: GgufFile, progress: Progress = iter) -> None:
        self._k = k
        self._packed = packed = pack_file(k, file, progress)
        self.sizes, self.requantised = packed.sizes, packed.requantised
        self._weights = jax.tree.map(
            jnp.asarray, {"embedding": packed.embedding, "norm": packed.norm, "layers": packed.layers}
        )
        self._weights["head"] = (
            self._weights["embedding"] if packed.head is packed.embedding else jnp.asarray(packed.head)
        )
        # The cache is donated: XLA writes it where it stands.
        self._step = jax.jit(self._run, static_argnames="every", donate_argnames="layers")
        self._answer = jax.jit(self._scan, static_argnames="count", donate_argnames="layers")

    def cache(self, capacity: int) -> Cache:
        return Cache(self._packed, capacity)

    def _run(self, weights, ids, begin, angles, layers: Layers, every: bool = False):
        k, sizes = self._k, self.sizes
        x = k.packed_embedding(weights["embedding"], ids, columns=sizes.width)
        rows = tuple(lax.dynamic_slice_in_dim(table, begin, len(ids)) for table in angles)
        written = []
        for w, (keys, values) in zip(weights["layers"], layers, strict=True):
            x, *both = _layer(k, sizes, w, x, begin, rows, keys, values)
            written.append(tuple(both))
        x = k.rms_norm(x if every else x[-1:], weights["norm"], eps=sizes.eps)
        return k.packed_linear(x, weights["head"]), written

    def forward(self, tokens: Iterable[int], cache: Cache, every: bool = False) -> np.ndarray:
        """The logits behind the last of the tokens, or behind each; the cache grows by them."""
        ids = jnp.asarray(list(tokens), jnp.int32)
        begin = jnp.int32(cache.length)
        logits, cache.layers = self._step(self._weights, ids, begin, cache.angles, layers=cache.layers, every=every)
        cache.length += len(ids)
        return np.asarray(logits)

    def _scan(self, weights, logits, begin, angles, layers: Layers, count: int):
        def one(state, _):
            token, position, layers = state
            logits, layers = self._run(weights, token, position, angles, layers)
            following = self._k.argmax(logits)
            return (following, position + 1, layers), following[0]

        first = self._k.argmax(logits)
        (_, _, layers), rest = lax.scan(one, (first, begin, layers), length=count - 1)
        return jnp.concatenate([first, rest]), layers

    def greedy(self, prompt: Iterable[int], count: int) -> list[int]:
        """The likeliest answer of `count` tokens. One program writes it; nothing comes back to Python between tokens."""
        ids = list(prompt)
        cache = self.cache(len(ids) + count)
        logits = jnp.asarray(self.forward(ids, cache))
        begin = jnp.int32(cache.length)
        answer, cache.layers = self._answer(
            self._weights, logits, begin, cache.angles, layers=cache.layers, count=count
        )
        return np.asarray(answer).tolist()
