"""The file's weights as kernpack_kernels reads them, once for all hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import gguf
import ml_dtypes
import numpy as np
from contents import MATRICES, NORMS
from gguf_file import GgufFile, ModelError, Sizes, Weights

Progress = Callable[[Iterable[int]], Iterable[int]]
ALIGNED = 64
KEPT = np.float16  # what keys and values of the tokens so far are kept as: half the memory to read for each token
FORMS = ("Q4_0", "Q4_1", "Q8_0", "Q4_K", "Q6_K")  # packed as they are; other blocks become Q8_0, the finest of them
DENSE = {"F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16}  # packed as they are, too


def rope_frequencies(sizes: Sizes, file: GgufFile) -> np.ndarray:
    pairs = sizes.rope_width // 2
    frequencies = sizes.rope_base ** (-np.arange(pairs) / pairs) / sizes.rope_factor
    if file.has("rope_freqs.weight"):
        factors = file.vector("rope_freqs.weight", pairs)
        if not ((factors > 0) & np.isfinite(factors)).all():
            raise ModelError(
                f"{file.path}: rope_freqs.weight: expected factors above 0, which frequencies are divided by"
            )
        frequencies = frequencies / factors
    return frequencies


def layer_shapes(sizes: Sizes) -> dict[str, tuple[int, int]]:
    """Of MATRICES."""
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


def layer_biases(file: GgufFile, sizes: Sizes, i: int) -> dict[str, np.ndarray]:
    """Of those MATRICES of a layer that have one."""
    names = {name: f"blk.{i}.{name}.bias" for name in MATRICES}
    shapes = layer_shapes(sizes)
    return {name: file.vector(full, shapes[name][0]) for name, full in names.items() if file.has(full)}


class Packer:
    """Packs weights, and keeps them beside each other in large pieces of memory, which NumPy asks huge pages for."""

    PIECE = 32 << 20

    def __init__(self, k: Any) -> None:
        self._k = k
        self._free = np.empty(0, np.uint8)
        self.requantised: set[str] = set()

    def __call__(self, weights: Weights) -> np.ndarray:
        """One matrix."""
        form = self._form(weights)
        return self._pack(form, [self._data(weights, form)])

    def rows(self, biases: dict[str, np.ndarray], **weights: Weights) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """The rows of all, one after the other, in as few matrices as their formats allow: llama.cpp's Q4_K_M has a finer format
        for some of the values' weights than for those of keys and queries beside them. And the bias of each, if any has one."""
        found = []
        for form, names in groupby(weights, lambda name: self._form(weights[name])):
            group = list(names)
            packed = self._pack(form, [self._data(weights[name], form) for name in group])
            bias = None
            if biases.keys() & set(group):
                none = {name: np.zeros(len(weights[name].data), np.float32) for name in group}
                bias = np.concatenate([(none | biases)[name] for name in group])
            found.append((packed, bias))
        return found

    def _form(self, weights: Weights) -> str:
        if weights.form in FORMS or weights.form in DENSE:
            return weights.form
        self.requantised.add(weights.form)
        return "Q8_0"

    @staticmethod
    def _data(weights: Weights, form: str) -> np.ndarray:
        if form in DENSE:
            return weights.data.view(DENSE[form])
        if form == weights.form:
            return weights.data
        return gguf.quants.quantize(weights.values(), gguf.GGMLQuantizationType[form])

    def _pack(self, form: str, data: list[np.ndarray]) -> np.ndarray:
        pack = "pack_linear" if form in DENSE else f"pack_{form.lower()}"
        return self._keep(getattr(self._k, pack)(np.concatenate(data)))

    def _keep(self, packed: np.ndarray) -> np.ndarray:
        size = -(-packed.nbytes // ALIGNED) * ALIGNED
        if size > self._free.size:
            self._free = np.empty(max(size, self.PIECE) + ALIGNED, np.uint8)
            self._free = self._free[-self._free.ctypes.data % ALIGNED :]
        kept = self._free[: packed.nbytes].view(packed.dtype).reshape(packed.shape)
        kept[...] = packed
        self._free = self._free[size:]
        return kept


@dataclass(frozen=True)
class PackedWeights:
    sizes: Sizes
    embedding: np.ndarray
    head: np.ndarray  # the embedding itself where the file has no other
    norm: np.ndarray
    # Of each layer: matrices; vectors, None for a bias that isn't there; lists of (matrix, bias) whose results are beside each other.
    layers: list[dict[str, Any]]
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
    biases = layer_biases(file, sizes, i)
    return {
        **{name: file.vector(f"blk.{i}.{name}.weight", sizes.width) for name in NORMS},
        "qkv": pack.rows(biases, **{name: w[name] for name in ("attn_q", "attn_k", "attn_v")}),
        "attn_output": pack(w["attn_output"]),
        "attn_output_bias": biases.get("attn_output"),
        "gate_up": pack.rows(biases, **{name: w[name] for name in ("ffn_gate", "ffn_up")}),
        "ffn_down": pack(w["ffn_down"]),
        "ffn_down_bias": biases.get("ffn_down"),
    }


def beside(
    k: Any, x: Any, matrices: Iterable[Any], concatenate: Callable[[list[Any], int], Any], compute: str = "auto"
) -> Any:
    """x times each matrix, and its bias, the results beside each other."""
    results = [k.packed_linear(x, matrix, bias, compute=precision(matrix, compute)) for matrix, bias in matrices]
    return results[0] if len(results) == 1 else concatenate(results, -1)


def precision(matrix: Any, compute: str) -> str:
    """packed_linear's `compute` for a matrix: of integers the one asked for; products of other numbers round nothing."""
    return compute if matrix.dtype.itemsize == 1 else "auto"
