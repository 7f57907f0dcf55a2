"""The model as a PyTorch module, eager or compiled to one graph: its operations are the same of kernpack_kernels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from gguf_file import GgufFile, Sizes
from packed import DENSE, KEPT, PackedWeights, Progress, beside, pack_file


class Cache:
    """Keys and values of the tokens so far, in one page of all of the capacity: every step has the same shapes."""

    def __init__(self, weights: PackedWeights, capacity: int) -> None:
        sizes = weights.sizes
        shape = (1, capacity, sizes.groups, sizes.head_width)
        self.layers = [
            (torch.from_numpy(np.zeros(shape, KEPT)), torch.from_numpy(np.zeros(shape, KEPT)))
            for _ in range(sizes.layers)
        ]
        self.cos, self.sin = map(torch.from_numpy, weights.angles(capacity))
        self.capacity, self.length = capacity, 0


def make_tensor(array: np.ndarray | None) -> torch.Tensor | None:
    """torch.from_numpy knows no bf16."""
    if array is None:
        return None
    if array.dtype == DENSE["BF16"]:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


class Beside(torch.nn.Module):
    """Linear layers of one input, the results beside each other."""

    def __init__(self, k: Any, matrices: list[tuple[np.ndarray, np.ndarray | None]]) -> None:
        super().__init__()
        self._k, self._count = k, len(matrices)
        for i, (matrix, bias) in enumerate(matrices):
            self.register_buffer(f"matrix{i}", make_tensor(matrix))
            self.register_buffer(f"bias{i}", make_tensor(bias))

    def forward(self, x):
        matrices = [(getattr(self, f"matrix{i}"), getattr(self, f"bias{i}")) for i in range(self._count)]
        return beside(self._k, x, matrices, torch.cat)


class Layer(torch.nn.Module):
    def __init__(self, k: Any, sizes: Sizes, weights: dict[str, Any]) -> None:
        super().__init__()
        self._k, self._sizes = k, sizes
        for name, value in weights.items():
            if isinstance(value, list):
                self.add_module(name, Beside(k, value))
            else:
                self.register_buffer(name, make_tensor(value))

    def forward(self, x, table, lengths, cos, sin, keys, values):
        k, sizes = self._k, self._sizes
        h = k.rms_norm(x, self.attn_norm, eps=sizes.eps)
        qkv = self.qkv(h).view(x.shape[0], -1, sizes.head_width)
        rotated = k.rope(qkv[:, : sizes.heads + sizes.groups], cos, sin, interleaved=True)
        k.paged_store(keys, rotated[None, :, sizes.heads :], table, lengths)
        k.paged_store(values, qkv[None, :, sizes.heads + sizes.groups :], table, lengths)
        seen = k.paged_attention(rotated[None, :, : sizes.heads], keys, values, table, lengths)
        x = k.packed_linear(seen.flatten(2)[0], self.attn_output, self.attn_output_bias, residual=x)
        h = k.rms_norm(x, self.ffn_norm, eps=sizes.eps)
        gate, up = self.gate_up(h).chunk(2, -1)
        return k.packed_linear(k.swiglu(gate, up), self.ffn_down, self.ffn_down_bias, residual=x)


class Llama(torch.nn.Module):
    """Logits of a chunk of tokens: ids[S] at positions[S]; the keys and values of the cache are written in place."""

    def __init__(self, k: Any, weights: PackedWeights) -> None:
        super().__init__()
        self._k, self._sizes = k, weights.sizes
        self.register_buffer("embedding", make_tensor(weights.embedding))
        self.register_buffer("norm", make_tensor(weights.norm))
        self.register_buffer("head", make_tensor(weights.head))
        self.layers = torch.nn.ModuleList(Layer(k, weights.sizes, layer) for layer in weights.layers)

    def forward(self, ids, positions, cos, sin, layers, every: bool = False):
        k, sizes = self._k, self._sizes
        x = k.packed_embedding(self.embedding, ids, columns=sizes.width)
        lengths = (positions[-1:] + 1).int()
        table = torch.zeros(1, 1, dtype=torch.int32)
        cos, sin = cos[positions], sin[positions]
        for layer, (keys, values) in zip(self.layers, layers, strict=True):
            x = layer(x, table, lengths, cos, sin, keys, values)
        x = k.rms_norm(x if every else x[-1:], self.norm, eps=sizes.eps)
        return k.packed_linear(x, self.head)


class Model:
    """The module behind the interface of the NumPy host."""

    def __init__(self, k: Any, file: GgufFile, progress: Progress = iter, compiled: bool = False) -> None:
        self._weights = pack_file(k, file, progress)
        self.sizes, self.requantised = self._weights.sizes, self._weights.requantised
        self.module = Llama(k, self._weights)
        self._step = torch.compile(self.module, fullgraph=True) if compiled else self.module
        # A program is compiled for a capacity: several of them share one.
        self._capacities = 256 if compiled else 1

    def cache(self, capacity: int) -> Cache:
        return Cache(self._weights, -(-capacity // self._capacities) * self._capacities)

    @torch.inference_mode()
    def forward(self, tokens: Iterable[int], cache: Cache, every: bool = False) -> np.ndarray:
        """The logits behind the last of the tokens, or behind each; the cache grows by them."""
        ids = torch.tensor(list(tokens), dtype=torch.int32)
        positions = torch.arange(cache.length, cache.length + len(ids))
        # The step that is taken for each token is compiled. A prompt is read once: compiling for its length would take longer.
        forward = self._step if len(ids) == 1 else self.module
        logits = forward(ids, positions, cache.cos, cache.sin, cache.layers, every)
        cache.length += len(ids)
        return logits.numpy()


def compiled(k: Any, file: GgufFile, progress: Progress = iter) -> Model:
    return Model(k, file, progress, compiled=True)
