"""The same model in float64 NumPy, from the file's dequantised values: what right is measured by."""

from __future__ import annotations

import numpy as np
from contents import NORMS
from gguf_file import GgufFile
from packed import layer_biases, layer_shapes, rope_frequencies


def _norm(x, weight, eps):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * weight


def _rope(x, angles):
    """Neighbouring elements of each head turn together."""
    c, s = np.cos(angles)[:, None], np.sin(angles)[:, None]
    out, a, b = x.copy(), x[..., : 2 * c.shape[-1] : 2], x[..., 1 : 2 * c.shape[-1] : 2]
    out[..., : 2 * c.shape[-1] : 2], out[..., 1 : 2 * c.shape[-1] : 2] = a * c - b * s, b * c + a * s
    return out


class Reference:
    def __init__(self, file: GgufFile) -> None:
        self._file, self._sizes = file, file.sizes()
        self._embedding = self._matrix("token_embd", self._sizes.vocabulary, self._sizes.width)

    def _matrix(self, name, rows, columns):
        return self._file.matrix(f"{name}.weight", rows, columns).values()

    def logits(self, sequences, last=None):
        """Of each sequence the logits behind each token, or behind the last ones. Layers are read one at a time."""
        sizes, file = self._sizes, self._file
        frequencies = rope_frequencies(sizes, file)
        states = [self._embedding[np.asarray(tokens)].astype(np.float64) for tokens in sequences]
        for i in range(sizes.layers):
            names = layer_shapes(sizes)
            w = {n: self._matrix(f"blk.{i}.{n}", *shape).astype(np.float64) for n, shape in names.items()}
            for n in NORMS:
                w[n] = file.vector(f"blk.{i}.{n}.weight", sizes.width).astype(np.float64)
            biases = layer_biases(file, sizes, i)
            b = {n: biases.get(n, np.zeros(shape[0])).astype(np.float64) for n, shape in names.items()}
            states = [self._layer(w, b, x, frequencies) for x in states]
        norm = file.vector("output_norm.weight", sizes.width).astype(np.float64)
        head = self._embedding
        if file.has("output.weight"):
            head = self._matrix("output", sizes.vocabulary, sizes.width)
        states = [_norm(x if last is None else x[-last:], norm, sizes.eps) for x in states]
        found = np.concatenate(states) @ head.astype(np.float64).T
        return np.split(found, np.cumsum([len(x) for x in states])[:-1])

    def _layer(self, w, b, x, frequencies):
        sizes, count = self._sizes, len(x)
        angles = np.arange(count)[:, None] * frequencies

        def linear(x, name):
            return x @ w[name].T + b[name]

        h = _norm(x, w["attn_norm"], sizes.eps)
        q, k, v = (linear(h, f"attn_{n}").reshape(count, -1, sizes.head_width) for n in "qkv")
        q, k = _rope(q, angles), _rope(k, angles)
        shared = sizes.heads // sizes.groups
        k, v = np.repeat(k, shared, 1), np.repeat(v, shared, 1)
        q, k, v = (x.swapaxes(0, 1) for x in (q, k, v))
        scores = q @ k.swapaxes(1, 2) / np.sqrt(sizes.head_width)
        scores[:, np.triu(np.ones((count, count), bool), 1)] = -np.inf
        p = np.exp(scores - scores.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        x = x + linear((p @ v).swapaxes(0, 1).reshape(count, -1), "attn_output")
        h = _norm(x, w["ffn_norm"], sizes.eps)
        gate = linear(h, "ffn_gate")
        return x + linear(gate / (1 + np.exp(-gate)) * linear(h, "ffn_up"), "ffn_down")
