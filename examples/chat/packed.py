"""The file's weights as kernpack_kernels reads them, once for all hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import gguf
import numpy as np
from gguf_file import GgufFile, Sizes, Weights

Progress = Callable[[Iterable[int]], Iterable[int]]
ALIGNED = 64
KEPT = np.float16  # what keys and values of the tokens so far are kept as: half the memory to read for each token
FORMS = ("Q4_0", "Q4_1", "Q8_0", "Q4_K", "Q6_K")  # packed as they are; others become Q8_0, the finest of them


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

    def __call__(self, weights: Weights) -> np.ndarray:
        """One matrix."""
        return self.rows(weights)[0]

    def rows(self, *weights: Weights) -> list[np.ndarray]:
        """The rows of all, one after the other, in as few matrices as their formats allow: llama.cpp's Q4_K_M has a finer format
        for some of the values' weights than for those of keys and queries beside them."""
        blocks = [self._blocks(w) for w in weights]
        return [
            self._pack(form, [data for _, data in group]) for form, group in groupby(blocks, lambda block: block[0])
        ]

    def _blocks(self, weights: Weights) -> tuple[str, np.ndarray]:
        if weights.form in FORMS:
            return weights.form, weights.data
        self.requantised.add(weights.form)
        return "Q8_0", gguf.quants.quantize(weights.values(), gguf.GGMLQuantizationType.Q8_0)

    def _pack(self, form: str, blocks: list[np.ndarray]) -> np.ndarray:
        return self._keep(getattr(self._k, f"pack_{form.lower()}")(np.concatenate(blocks)))

    def _keep(self, packed: np.ndarray) -> np.ndarray:
        size = -(-packed.nbytes // ALIGNED) * ALIGNED
        if size > self._free.size:
            self._free = np.empty(max(size, self.PIECE) + ALIGNED, np.uint8)
            self._free = self._free[-self._free.ctypes.data % ALIGNED :]
        kept = self._free[: packed.nbytes].reshape(packed.shape)
        kept[...] = packed
        self._free = self._free[size:]
        return kept


@dataclass(frozen=True)
class PackedWeights:
    sizes: Sizes
    embedding: np.ndarray
    head: np.ndarray  # the embedding itself where the file has no other
    norm: np.ndarray
    layers: list[dict[str, Any]]  # matrices, vectors, and lists of matrices whose results are one beside the other
    frequencies: np.ndarray
    requantised: list[str]  # formats that were rounded to Q8_0

    def angles(self, capacity: int) -> tuple[np.ndarray, np.ndarray]:
        """Cosines and sines of the first positions: the same numbers in every host."""
        angles = np.arange(capacity)[:, None] * self.frequencies
        return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def pack_file(k: Any, file: GgufFile, progress: Progress = iter) -> PackedWeights:
    sizes, pack = file.sizes(), Packer(k)
    shape = (sizes.vocabulary, sizes.width)
    embedding = pack(file.matrix("token_embd.weight", *shape))
    head = pack(file.matrix("output.weight", *shape)) if file.has("output.weight") else embedding
    norm = file.vector("output_norm.weight", sizes.width)
    layers = [_layer(file, pack, sizes, i) for i in progress(range(sizes.layers))]
    return PackedWeights(sizes, embedding, head, norm, layers, rope_frequencies(sizes, file), sorted(pack.requantised))


def _layer(file: GgufFile, pack: Packer, sizes: Sizes, i: int) -> dict[str, Any]:
    w = {name: file.matrix(f"blk.{i}.{name}.weight", *shape) for name, shape in layer_shapes(sizes).items()}
    return {
        "attn_norm": file.vector(f"blk.{i}.attn_norm.weight", sizes.width),
        "ffn_norm": file.vector(f"blk.{i}.ffn_norm.weight", sizes.width),
        "qkv": pack.rows(w["attn_q"], w["attn_k"], w["attn_v"]),
        "attn_output": pack(w["attn_output"]),
        "gate_up": pack.rows(w["ffn_gate"], w["ffn_up"]),
        "ffn_down": pack(w["ffn_down"]),
    }


def beside(
    k: Any, x: Any, matrices: Iterable[Any], concatenate: Callable[[list[Any], int], Any], **options: str
) -> Any:
    """x times each matrix, the results beside each other. Options are packed_linear's."""
    results = [k.packed_linear(x, matrix, **options) for matrix in matrices]
    return results[0] if len(results) == 1 else concatenate(results, -1)
