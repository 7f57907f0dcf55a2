"""The model's forward pass in NumPy: every operation is one of kernpack_kernels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gguf_file import GgufFile
from packed import PackedWeights, Progress, beside, pack_file


class Cache:
    """Keys and values of the tokens so far, and the angles that positions turn them by."""

    def __init__(self, weights: PackedWeights, capacity: int) -> None:
        sizes = weights.sizes
        shape = (sizes.layers, 1, sizes.groups, capacity, sizes.head_width)
        # [layer, 1, token, group, width], but a group's tokens lie beside each other: attention reads them one after another.
        self.keys, self.values = (np.zeros(shape, np.float32).swapaxes(2, 3) for _ in range(2))
        self.cos, self.sin = weights.angles(capacity)
        self.capacity, self.length = capacity, 0


class Model:
    def __init__(self, k: Any, file: GgufFile, progress: Progress = iter) -> None:
        self._k = k
        self._weights = pack_file(k, file, progress)
        self.sizes, self.requantised = self._weights.sizes, self._weights.requantised

    def cache(self, capacity: int) -> Cache:
        return Cache(self._weights, capacity)

    def forward(self, tokens: Iterable[int], cache: Cache, every: bool = False) -> np.ndarray:
        """The logits behind the last of the tokens, or behind each; the cache grows by them."""
        k, w, sizes = self._k, self._weights, self.sizes
        ids = np.asarray(tokens, np.int32)
        begin, end = cache.length, cache.length + len(ids)
        cos, sin = cache.cos[begin:end], cache.sin[begin:end]
        x = k.packed_embedding(w.embedding, ids, columns=sizes.width)
        for layer, keys, values in zip(w.layers, cache.keys, cache.values, strict=True):
            h = k.rms_norm(x, layer["attn_norm"], eps=sizes.eps)
            qkv = beside(k, h, layer["qkv"], np.concatenate).reshape(len(ids), -1, sizes.head_width)
            rotated = qkv[:, : sizes.heads + sizes.groups]
            k.apply_rope(rotated, cos, sin, interleaved=True)
            keys[0, begin:end] = rotated[:, sizes.heads :]
            values[0, begin:end] = qkv[:, sizes.heads + sizes.groups :]
            seen = k.attention(qkv[None, :, : sizes.heads], keys[:, :end], values[:, :end], causal=True)
            x = k.packed_linear(seen.reshape(len(ids), -1), layer["attn_output"], residual=x)
            h = k.rms_norm(x, layer["ffn_norm"], eps=sizes.eps)
            gate_up = beside(k, h, layer["gate_up"], np.concatenate)
            h = k.swiglu(gate_up[:, : sizes.hidden], gate_up[:, sizes.hidden :])
            x = k.packed_linear(h, layer["ffn_down"], residual=x)
        cache.length = end
        x = k.rms_norm(x if every else x[-1:], w.norm, eps=sizes.eps)
        return k.packed_linear(x, w.head)
