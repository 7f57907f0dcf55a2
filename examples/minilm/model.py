"""MiniLM, once for NumPy, PyTorch and JAX: arithmetic and matrix products are the arrays' own, all else is `k`'s."""

import math

LAYERS = 6
HEADS = 12
EPS = 1e-12


def linear(weights, name, x):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def layer_norm(k, weights, name, x):
    return k.layer_norm(x, weights[f"{name}.weight"], weights[f"{name}.bias"], eps=EPS)


def embeddings(k, weights, inputs):
    def look_up(table, indices):
        return k.embedding(weights[f"embeddings.{table}_embeddings.weight"], inputs[indices])

    total = look_up("word", "ids") + look_up("position", "positions") + look_up("token_type", "types")
    return layer_norm(k, weights, "embeddings.LayerNorm", total)


def attention(k, weights, name, x, keep):
    batch, tokens, width = x.shape

    def heads(part):
        return linear(weights, f"{name}.self.{part}", x).reshape(batch, tokens, HEADS, width // HEADS).swapaxes(1, 2)

    scores = heads("query") @ heads("key").swapaxes(2, 3) * (1 / math.sqrt(width // HEADS))
    context = k.softmax(scores, keep) @ heads("value")
    context = linear(weights, f"{name}.output.dense", context.swapaxes(1, 2).reshape(batch, tokens, width))
    return layer_norm(k, weights, f"{name}.output.LayerNorm", context + x)


def layer(k, weights, name, x, keep):
    x = attention(k, weights, f"{name}.attention", x, keep)
    hidden = k.gelu(linear(weights, f"{name}.intermediate.dense", x))
    return layer_norm(k, weights, f"{name}.output.LayerNorm", linear(weights, f"{name}.output.dense", hidden) + x)


def embed(k, weights, inputs):
    """Unit vectors [batch, 384] of sentences. Inputs: ids, positions, types, mask: i32[batch, tokens]."""
    batch, tokens = inputs["mask"].shape
    keep = (inputs["mask"] != 0).reshape(batch, 1, 1, tokens)
    x = embeddings(k, weights, inputs)
    for i in range(LAYERS):
        x = layer(k, weights, f"encoder.layer.{i}", x, keep)
    return k.l2_normalize(k.mean_pool(x, inputs["mask"]))
