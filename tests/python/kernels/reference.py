"""What the kernels compute, in NumPy and float64."""

import math

import numpy as np

_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def layer_norm(x, weight, bias=0.0, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) * weight + bias


def rms_norm(x, weight, eps=1e-6):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * weight


def softmax(x, mask=None):
    """Rows with nothing kept are zeros."""
    if mask is not None:
        x = np.where(mask, x, -np.inf) if mask.dtype == bool else x + mask
    largest = x.max(-1, keepdims=True)
    e = np.exp(x - np.where(largest == -np.inf, 0, largest))
    total = e.sum(-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total != 0)


def gelu(x, approximate="none"):
    if approximate == "tanh":
        return x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x * 0.5 * _erfc(-x / math.sqrt(2))


def mean_pool(x, mask):
    keep = (mask != 0)[..., None]
    return np.where(keep, x, 0).sum(-2) / np.maximum(keep.sum(-2), 1)


def l2_normalize(x, eps=1e-12):
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), eps)
