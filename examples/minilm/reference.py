"""The same model in plain NumPy and float64, written apart from model.py: what the others are measured against."""

import math

import numpy as np

_erf = np.frompyfunc(math.erf, 1, 1)


def _norm(x, weight, bias):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12) * weight + bias


def _encode(p, ids):
    """One sentence without padding: [tokens, 384]."""
    x = p["embeddings.word_embeddings.weight"][ids]
    x = x + p["embeddings.position_embeddings.weight"][: len(ids)] + p["embeddings.token_type_embeddings.weight"][0]
    x = _norm(x, p["embeddings.LayerNorm.weight"], p["embeddings.LayerNorm.bias"])
    for i in range(6):
        at = f"encoder.layer.{i}."
        q, k, v = (
            np.einsum("td,hed->hte", x, p[f"{at}attention.self.{part}.weight"].reshape(12, 32, 384), optimize=True)
            + p[f"{at}attention.self.{part}.bias"].reshape(12, 1, 32)
            for part in ("query", "key", "value")
        )
        weights = np.exp(np.einsum("hqe,hke->hqk", q, k) / math.sqrt(32))
        weights /= weights.sum(-1, keepdims=True)
        mixed = np.einsum("hqk,hke->qhe", weights, v).reshape(len(ids), 384)
        mixed = mixed @ p[f"{at}attention.output.dense.weight"].T + p[f"{at}attention.output.dense.bias"]
        x = _norm(x + mixed, p[f"{at}attention.output.LayerNorm.weight"], p[f"{at}attention.output.LayerNorm.bias"])
        hidden = x @ p[f"{at}intermediate.dense.weight"].T + p[f"{at}intermediate.dense.bias"]
        hidden = hidden * 0.5 * (1 + _erf(hidden / math.sqrt(2)).astype(np.float64))
        hidden = hidden @ p[f"{at}output.dense.weight"].T + p[f"{at}output.dense.bias"]
        x = _norm(x + hidden, p[f"{at}output.LayerNorm.weight"], p[f"{at}output.LayerNorm.bias"])
    return x


def embed(weights, sentences, progress):
    """Unit vectors, float64[len(sentences), 384]. `sentences`: a list of lists of token ids."""
    p = {name: w.astype(np.float64) for name, w in weights.items()}
    pooled = np.stack([_encode(p, ids).mean(0) for ids in progress(sentences)])
    return pooled / np.linalg.norm(pooled, axis=-1, keepdims=True)
