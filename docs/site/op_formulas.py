"""The formula of each op, as its page shows it below the first sentence. Sums and means without limits are over the last dimension.

NONE: ops that no short formula describes: they move, pack, choose or draw."""

from __future__ import annotations

import sys
from pathlib import Path

# Of the package `support`, which tests/python/kernels/reference.py imports, too.
sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))

from support.row_activations import ROW_ACTIVATIONS

_ATTENTION = """\
scores  = scale * q k^T           scale = 1 / sqrt(D) unless given
context = softmax(scores) v       for each head
"""
_LINEAR = "out[i, n] = activation(sum_k x[i, k] * weight[n, k] + bias[n]) + residual[i, n]\n"
_LOSS = """\
lse  = log(sum_v exp(logits[v]))
loss = (1 - label_smoothing) * (lse - logits[target])
       + label_smoothing * (lse - mean(logits)) + z_loss * lse^2
"""
_ROPE = """\
a, b = x[i], x[R + i]             or x[2 i], x[2 i + 1] if interleaved
out  = a cos[i] - b sin[i], a sin[i] + b cos[i]
"""

FORMULAS = {
    "adamw": """\
param      = param * (1 - lr * weight_decay)
exp_avg    = beta1 * exp_avg + (1 - beta1) * grad
exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * grad^2
m, v       = exp_avg / (1 - beta1^step), exp_avg_sq / (1 - beta2^step)
param      = param - lr * m / (sqrt(v) + eps)
""",
    "add_layer_norm": """\
sum = x + residual
out = (sum - mean(sum)) / sqrt(variance(sum) + eps) * weight + bias
""",
    "add_rms_norm": """\
sum = x + residual
out = sum / sqrt(mean(sum^2) + eps) * weight
""",
    "apply_repetition_penalty": """\
logits[t] = logits[t] / penalty   if logits[t] > 0, for each t in tokens
logits[t] = logits[t] * penalty   otherwise
""",
    "apply_rope": _ROPE,
    "attention": _ATTENTION,
    "causal_conv1d": "out[l, c] = activation(bias[c] + sum_w weight[c, w] * x[l - (W - 1) + w, c])\n",
    "causal_conv1d_update": "out[l, c] = activation(bias[c] + sum_w weight[c, w] * x[l - (W - 1) + w, c])\n",
    "clip_grad_norm": """\
norm  = sqrt(sum of grad^2 over all gradients)
grads = grads * max_norm / norm   if norm > max_norm
""",
    "cross_entropy": _LOSS,
    "cumsum": "out[n] = sum of x[0], ..., x[n]   or of x[n], ..., x[N - 1] if reverse\n",
    "embedding": "out[..., d] = table[indices[...], d]\n",
    "embedding_bag": "out[s, d] = sum_i weights[i] * table[indices[i], d]   i from offsets[s] to offsets[s + 1]\n",
    "fused_linear_cross_entropy": "logits = x weight^T\n" + _LOSS,
    "geglu": "out = gelu(gate) * up\n",
    "gelu": """\
out = x * (1 + erf(x / sqrt(2))) / 2                              "none"
out = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2     "tanh"
""",
    "group_norm": """\
out = (x - mean(x)) / sqrt(variance(x) + eps) * weight[c] + bias[c]
mean and variance are those of a group of channels; c is the channel
""",
    "grouped_linear": "out[m, n] = sum_k x[m, k] * weight[e, n, k]   where row m is in group e\n",
    "l2_normalize": "out = x / max(sqrt(sum(x^2)), eps)\n",
    "layer_norm": "out = (x - mean(x)) / sqrt(variance(x) + eps) * weight + bias\n",
    "linear": _LINEAR,
    "lion": """\
update  = sign(beta1 * exp_avg + (1 - beta1) * grad)
param   = param * (1 - lr * weight_decay) - lr * update
exp_avg = beta2 * exp_avg + (1 - beta2) * grad
""",
    "masked_attention": """\
scores  = scale * q k^T + mask    or, where a boolean mask is False, -inf
context = softmax(scores) v       for each head
""",
    "mean_pool": "out[d] = sum_s mask[s] * x[s, d] / sum_s mask[s]   where mask is 0 or 1\n",
    "pack_int4": "weight[n, k] = scales[n, g] * (values[n, k] - zeros[n, g])   g is the group of column k\n",
    "pack_int8": "weight[n, k] = scales[n, g] * (values[n, k] - zeros[n, g])   g is the group of column k\n",
    "packed_linear": _LINEAR,
    "paged_attention": _ATTENTION,
    "rms_norm": "out = x / sqrt(mean(x^2) + eps) * weight\n",
    "rope": _ROPE,
    "scatter_sum": "out[r, d] = sum of x[n, d] over all n with indices[n] == r\n",
    "segment_sum": "out[s, d] = sum of x[n, d] for n from offsets[s] to offsets[s + 1]\n",
    "sgd": """\
grad    = grad + weight_decay * param
momenta = momentum * momenta + grad
param   = param - lr * momenta    with nesterov: - lr * (grad + momentum * momenta)
""",
    "softmax": "probs[n] = exp(x[n] + mask[n]) / sum_m exp(x[m] + mask[m])\n",
    "softmax_columns": "probs[n, d] = exp(x[n, d]) / sum_m exp(x[m, d])\n",
    "swiglu": "out = gate / (1 + exp(-gate)) * up\n",
    "varlen_attention": _ATTENTION,
}
FORMULAS |= {name: f"{activation.formula}\n" for name, activation in ROW_ACTIVATIONS.items()}
NONE = {
    "argmax",
    "pack_linear",
    "pack_q4_0",
    "pack_q4_1",
    "pack_q4_k",
    "pack_q6_k",
    "pack_q8_0",
    "packed_embedding",
    "paged_quantize",
    "paged_store",
    "sample",
    "sort_into_groups",
    "topk",
}
