"""The model's forward pass in NumPy: every operation is one of kernpack_kernels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gguf_file import GgufFile
from packed import KEPT, PackedWeights, Progress, beside, pack_file, precision
from pages import Pages


class Cache:
    """Keys and values of the tokens so far, and the angles that positions turn them by."""

    def __init__(self, weights: PackedWeights, capacity: int) -> None:
        sizes = weights.sizes
        shape = (sizes.layers, 1, sizes.groups, capacity, sizes.head_width)
        # One page of all tokens: [layer, page, token, group, width]. A group's tokens lie beside each other, as attention reads them.
        self.keys, self.values = (np.zeros(shape, KEPT).swapaxes(2, 3) for _ in range(2))
        self._table = np.zeros((1, 1), np.int32)
        self.cos, self.sin = weights.angles(capacity)
        self.capacity, self.length = capacity, 0

    def angles(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Of the next `count` tokens."""
        return self.cos[self.length : self.length + count], self.sin[self.length : self.length + count]

    def attend(self, k: Any, layer: int, q: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The attention of the next tokens in a layer, after their keys and values are stored; `advance` follows the last layer."""
        lengths = np.array([self.length + len(q)], np.int32)
        for cache, x in ((self.keys[layer], keys), (self.values[layer], values)):
            k.paged_store(cache, x[None], self._table, lengths)
        return k.paged_attention(q[None], self.keys[layer], self.values[layer], self._table, lengths)

    def advance(self, count: int) -> None:
        self.length += count


class Model:
    def __init__(self, k: Any, file: GgufFile, progress: Progress = iter) -> None:
        self._k = k
        self._weights = pack_file(k, file, progress)
        self.sizes, self.requantised = self._weights.sizes, self._weights.requantised

    def cache(self, capacity: int) -> Cache:
        return Cache(self._weights, capacity)

    def pages(self, needs: list[int]) -> Pages:
        """A cache for several answers, of so many tokens each."""
        return Pages(self._weights, needs)

    def forward(self, tokens: Iterable[int], cache: Any, every: bool = False, compute: str = "auto") -> np.ndarray:
        """The logits behind the last of the tokens, or behind each; the cache grows by them. `compute` is
        packed_linear's, for weights of integers."""
        k, w, sizes = self._k, self._weights, self.sizes
        ids = np.asarray(tokens, np.int32)
        cos, sin = cache.angles(len(ids))
        x = k.packed_embedding(w.embedding, ids, columns=sizes.width)
        for i, layer in enumerate(w.layers):
            h = k.rms_norm(x, layer["attn_norm"], eps=sizes.eps)
            qkv = beside(k, h, layer["qkv"], np.concatenate, compute).reshape(len(ids), -1, sizes.head_width)
            rotated, values = qkv[:, : sizes.heads + sizes.groups], qkv[:, sizes.heads + sizes.groups :]
            k.apply_rope(rotated, cos, sin, interleaved=True)
            seen = cache.attend(k, i, rotated[:, : sizes.heads], rotated[:, sizes.heads :], values)
            x = self._linear(seen.reshape(len(ids), -1), layer, "attn_output", x, compute)
            h = k.rms_norm(x, layer["ffn_norm"], eps=sizes.eps)
            gate_up = beside(k, h, layer["gate_up"], np.concatenate, compute)
            h = k.swiglu(gate_up[:, : sizes.hidden], gate_up[:, sizes.hidden :])
            x = self._linear(h, layer, "ffn_down", x, compute)
        cache.advance(len(ids))
        x = k.rms_norm(x if every else x[-1:], w.norm, eps=sizes.eps)
        return k.packed_linear(x, w.head, compute=precision(w.head, compute))

    def _linear(self, x: np.ndarray, layer: dict[str, Any], name: str, residual: np.ndarray, compute: str) -> Any:
        matrix, bias = layer[name], layer[f"{name}_bias"]
        return self._k.packed_linear(x, matrix, bias, residual, compute=precision(matrix, compute))
