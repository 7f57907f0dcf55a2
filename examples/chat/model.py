"""The model's forward pass in NumPy: every operation is one of kernpack_kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import gguf
import numpy as np
from gguf_file import GgufFile, Sizes, Weights

Progress = Callable[[Iterable[int]], Iterable[int]]
ALIGNED = 64


def rope_frequencies(sizes: Sizes, file: GgufFile) -> np.ndarray:
    pairs = sizes.rope_width // 2
    frequencies = sizes.rope_base ** (-np.arange(pairs) / pairs)
    if file.has("rope_freqs.weight"):
        frequencies = frequencies / file.vector("rope_freqs.weight", pairs)
    return frequencies


def layer_shapes(sizes: Sizes) -> dict[str, tuple[int, int]]:
    queries, keys = sizes.heads * sizes.head_width, sizes.groups * sizes.head_width
    return {
        "attn_q": (queries, sizes.width),
        "attn_k": (keys, sizes.width),
        "attn_v": (keys, sizes.width),
        "attn_output": (sizes.width, queries),
        "ffn_gate": (sizes.hidden, sizes.width),
        "ffn_up": (sizes.hidden, sizes.width),
        "ffn_down": (sizes.width, sizes.hidden),
    }


class Packer:
    """Packs weights, and keeps them beside each other in large pieces of memory, which NumPy asks huge pages for."""

    PIECE = 32 << 20

    def __init__(self, k: Any) -> None:
        self._k = k
        self._free = np.empty(0, np.uint8)
        self.requantised: set[str] = set()

    def __call__(self, *weights: Weights) -> np.ndarray:
        """The rows of all, one after the other, as one matrix."""
        forms = {w.form for w in weights}
        if len(forms) == 1 and forms <= {"Q4_0", "Q4_1", "Q8_0", "Q4_K", "Q6_K"}:
            form, blocks = forms.pop(), np.concatenate([w.data for w in weights])
        else:  # other formats become the finest that there is
            self.requantised |= forms - {"Q8_0"}
            form = "Q8_0"
            blocks = np.concatenate([gguf.quants.quantize(w.values(), gguf.GGMLQuantizationType.Q8_0) for w in weights])
        return self._keep(getattr(self._k, f"pack_{form.lower()}")(np.ascontiguousarray(blocks)))

    def _keep(self, packed: np.ndarray) -> np.ndarray:
        size = -(-packed.nbytes // ALIGNED) * ALIGNED
        if size > self._free.size:
            self._free = np.empty(max(size, self.PIECE) + ALIGNED, np.uint8)
            self._free = self._free[-self._free.ctypes.data % ALIGNED :]
        kept = self._free[: packed.nbytes].reshape(packed.shape)
        kept[...] = packed
        self._free = self._free[size:]
        return kept


class Cache:
    """Keys and values of the tokens so far: one page of each layer, in half precision."""

    def __init__(self, sizes: Sizes, capacity: int) -> None:
        shape = (sizes.layers, 1, capacity, sizes.groups, sizes.head_width)
        self.keys, self.values = np.zeros(shape, np.float16), np.zeros(shape, np.float16)
        self.pages = np.zeros((1, 1), np.int32)
        self.length = 0


class Model:
    def __init__(self, k: Any, file: GgufFile, progress: Progress = iter) -> None:
        self._k = k
        self.sizes = sizes = file.sizes()
        pack = Packer(k)
        shape = (sizes.vocabulary, sizes.width)
        self._embedding = pack(file.matrix("token_embd.weight", *shape))
        self._head = pack(file.matrix("output.weight", *shape)) if file.has("output.weight") else self._embedding
        self._norm = file.vector("output_norm.weight", sizes.width)
        self._layers = [self._layer(file, pack, i) for i in progress(range(sizes.layers))]
        self._frequencies = rope_frequencies(sizes, file)
        self.requantised = sorted(pack.requantised)

    def _layer(self, file: GgufFile, pack: Packer, i: int) -> dict[str, np.ndarray]:
        sizes = self.sizes
        w = {name: file.matrix(f"blk.{i}.{name}.weight", *shape) for name, shape in layer_shapes(sizes).items()}
        return {
            "attn_norm": file.vector(f"blk.{i}.attn_norm.weight", sizes.width),
            "ffn_norm": file.vector(f"blk.{i}.ffn_norm.weight", sizes.width),
            "qkv": pack(w["attn_q"], w["attn_k"], w["attn_v"]),
            "attn_output": pack(w["attn_output"]),
            "gate_up": pack(w["ffn_gate"], w["ffn_up"]),
            "ffn_down": pack(w["ffn_down"]),
        }

    def cache(self, capacity: int) -> Cache:
        return Cache(self.sizes, capacity)

    def forward(self, tokens: Iterable[int], cache: Cache, every: bool = False) -> np.ndarray:
        """The logits behind the last of the tokens, or behind each; the cache grows by them."""
        k, sizes = self._k, self.sizes
        ids = np.asarray(tokens, np.int32)
        begin, end = cache.length, cache.length + len(ids)
        angles = np.arange(begin, end)[:, None] * self._frequencies
        lengths = np.array([end], np.int32)
        cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        x = k.packed_embedding(self._embedding, ids, columns=sizes.width)
        for layer, keys, values in zip(self._layers, cache.keys, cache.values, strict=True):
            h = k.rms_norm(x, layer["attn_norm"], eps=sizes.eps)
            qkv = k.packed_linear(h, layer["qkv"]).reshape(len(ids), -1, sizes.head_width)
            rotated = qkv[:, : sizes.heads + sizes.groups]
            k.apply_rope(rotated, cos, sin, interleaved=True)
            k.paged_store(keys, rotated[None, :, sizes.heads :], cache.pages, lengths)
            k.paged_store(values, qkv[None, :, sizes.heads + sizes.groups :], cache.pages, lengths)
            seen = k.paged_attention(qkv[None, :, : sizes.heads], keys, values, cache.pages, lengths)
            x = k.packed_linear(seen.reshape(len(ids), -1), layer["attn_output"], residual=x)
            h = k.rms_norm(x, layer["ffn_norm"], eps=sizes.eps)
            gate_up = k.packed_linear(h, layer["gate_up"])
            h = k.swiglu(gate_up[:, : sizes.hidden], gate_up[:, sizes.hidden :])
            x = k.packed_linear(h, layer["ffn_down"], residual=x)
        cache.length = end
        x = k.rms_norm(x if every else x[-1:], self._norm, eps=sizes.eps)
        return k.packed_linear(x, self._head)
