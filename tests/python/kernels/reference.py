"""References of the kernels in NumPy: in float64, or in the wider type of the arrays given.

The norms, softmax's gradient and the tanh form take complex arrays too (derivatives.py): they use no absolute value, and
compare real parts only.
"""

import math

import numpy as np
from support.row_activations import silu as silu

# Largest error allowed of a dtype, relative to the largest expected value; the site shows it beside the measured one.
ATTENTION_TOLERANCE = {"f32": 3e-6, "f16": 2e-3, "bf16": 2e-2}
TOLERANCE = {"f32": 1e-6, "f64": 3e-15, "f16": 1e-3, "bf16": 8e-3}

_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def layer_norm(x, weight, bias=0.0, eps=1e-5):
    unit, _ = _centred(x, eps)
    return unit * weight + bias


def _centred(x, eps):
    centred = x - x.mean(-1, keepdims=True)
    scale = 1 / np.sqrt((centred**2).mean(-1, keepdims=True) + eps)
    return centred * scale, scale


def layer_norm_backward(d_out, x, weight, eps=1e-5):
    unit, scale = _centred(x, eps)
    g = d_out * weight
    along = (g * unit).mean(-1, keepdims=True)
    return (g - g.mean(-1, keepdims=True) - unit * along) * scale, _columns(d_out * unit), _columns(d_out + 0 * x)


def _columns(x):
    return x.reshape(-1, x.shape[-1]).sum(0)


def rms_norm(x, weight, eps=1e-6):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * weight


def rms_norm_backward(d_out, x, weight, eps=1e-6):
    scale = 1 / np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    unit, g = x * scale, d_out * weight
    return (g - unit * (g * unit).mean(-1, keepdims=True)) * scale, _columns(d_out * unit)


def softmax(x, mask=None):
    """Rows with nothing kept are zeros."""
    if mask is not None:
        x = np.where(mask, x, -np.inf) if mask.dtype == bool else x + mask
    largest = x.max(-1, keepdims=True)
    e = np.exp(x - np.where(largest == -np.inf, 0, largest))
    total = e.sum(-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total != 0)


def softmax_backward(d_probs, probs):
    return ((d_probs - (d_probs * probs).sum(-1, keepdims=True)) * probs,)


def summed_to(gradient, shape):
    """Summed over what a mask of that shape was broadcast to."""
    missing = gradient.ndim - len(shape)
    gradient = gradient.sum(tuple(range(missing)))
    return gradient.sum(tuple(i for i, size in enumerate(shape) if size == 1 and gradient.shape[i] != 1), keepdims=True)


def gelu(x, approximate="none"):
    if approximate == "tanh":  # x (1 + tanh u) / 2 as x / (1 + exp(-2u)), without an overflow
        e = np.exp(-np.abs(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
        return x * np.where(x > 0, 1, e) / (1 + e)
    return x * 0.5 * _erfc(-x / math.sqrt(2))


def gelu_slopes(x, approximate="none"):
    """GELU's first and second derivative in float64; at the infinities their limits."""
    x = np.clip(x, -200, 200)  # far out they are constant, and exp(x * x) too large
    if approximate == "tanh":
        a, b = 2 * math.sqrt(2 / math.pi), 2 * math.sqrt(2 / math.pi) * 0.044715
        e = np.exp(-np.abs(a * x + b * x**3))
        s, q = np.where(x > 0, 1, e) / (1 + e), e / (1 + e) ** 2
        slope, bend = a + 3 * b * x**2, 6 * b * x
        return s + x * q * slope, 2 * q * slope + x * q * ((1 - 2 * s) * slope**2 + bend)
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return 0.5 * _erfc(-x / math.sqrt(2)) + x * density, (2 - x * x) * density


def mean_pool(x, mask):
    keep = (mask != 0)[..., None]
    return np.where(keep, x, 0).sum(-2) / np.maximum(keep.sum(-2), 1)


def mean_pool_backward(d_out, mask):
    keep = (mask != 0)[..., None]
    return np.where(keep, d_out[..., None, :] / np.maximum(keep.sum(-2, keepdims=True), 1), 0)


def _length(x):
    return np.sqrt((x**2).sum(-1, keepdims=True))


def l2_normalize(x, eps=1e-12):
    length = _length(x)
    return x / np.where(length.real < eps, eps, length)


def l2_normalize_backward(d_out, x, eps=1e-12):
    length = _length(x)
    small = length.real < eps
    unit = x / np.where(small, eps, length)
    along = np.where(small, 0, (d_out * unit).sum(-1, keepdims=True))
    return ((d_out - unit * along) / np.where(small, eps, length),)


def attention(q, k, v, causal=False, window=0, scale=None, soft_cap=0.0, lengths=None, sinks=None):
    shared = q.shape[2] // k.shape[2]
    k, v = np.repeat(k, shared, 2), np.repeat(v, shared, 2)
    scores = np.einsum("bshd,blhd->bhsl", q, k) * (q.shape[3] ** -0.5 if scale is None else scale)
    if soft_cap:
        scores = np.tanh(scores / soft_cap) * soft_cap
    for b in range(q.shape[0]):
        n = k.shape[1] if lengths is None else lengths[b]
        at = np.arange(q.shape[1])[:, None] + n - q.shape[1] if causal else np.full((q.shape[1], 1), n - 1)
        key = np.arange(k.shape[1])[None]
        seen = (key <= at) & (key < n) & ((key > at - window) if window else True)
        scores[b][:, ~seen] = -np.inf
    return attend(scores, v, sinks)


def attend(scores, v, sinks=None):
    """softmax(scores) v of scores [B, H, S, L] and v [B, L, H, D]; a row without a score gives zeros. A sink is one more score of its
    head, whose value is zeros."""
    of_heads = -np.inf if sinks is None else np.asarray(sinks, np.float64)[:, None, None]
    scores = np.concatenate([scores, np.broadcast_to(of_heads, (*scores.shape[:3], 1))], -1)
    top = scores.max(-1, keepdims=True)
    p = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = p.sum(-1, keepdims=True)
    return np.einsum("bhsl,blhd->bshd", np.divide(p, total, out=np.zeros_like(p), where=total != 0)[..., :-1], v)


def rope(x, cos, sin, interleaved=False):
    pairs, out = cos.shape[-1], np.array(x)
    first, second = (
        (slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)) if interleaved else (slice(pairs), slice(pairs, 2 * pairs))
    )
    a, b, c, s = x[..., first], x[..., second], cos[..., None, :], sin[..., None, :]
    out[..., first], out[..., second] = a * c - b * s, b * c + a * s
    return out
