"""One call of each function of kernpack_kernels: those with a gradient here, the others in inference_samples.py."""

from __future__ import annotations

import numpy as np
from inference_samples import SAMPLES as INFERENCE_SAMPLES
from op_sample import Sample
from support.row_activations import ROW_ACTIVATIONS

_RNG = np.random.default_rng(7)


def _normal(*shape: int) -> np.ndarray:
    return _RNG.normal(size=shape)


_X, _D, _W, _B = _normal(2, 3, 8), _normal(2, 3, 8), _normal(8), _normal(8)
_PROBS = np.exp(_X) / np.exp(_X).sum(-1, keepdims=True)
_TABLE, _INDICES = _normal(5, 8), np.array([[0, 2, 4], [2, 1, 0]], np.int32)
_ANGLES = _normal(2, 3)
_COS, _SIN = np.cos(_ANGLES).astype(np.float32), np.sin(_ANGLES).astype(np.float32)
_HEADS = _normal(2, 3, 8)  # two positions of three heads
_QUERIES, _KEYS, _VALUES = (_normal(1, 3, heads, 4).astype(np.float32) for heads in (4, 2, 2))
_DISTINCT = _RNG.permutation(48).reshape(2, 3, 8).astype(np.float32)
_IMAGES = _normal(2, 4, 3)
_ENDS = np.array([0, 1, 3], np.int32)  # two sequences, one behind the other
_BEGINS = np.array([0, 2, 2], np.int32)  # three segments, the second one empty
_CLASSES = np.array([[0, 7, 3], [5, 5, 1]], np.int32)
_TOKENS = np.array([[1, 1, 0], [1, 1, 1]], np.int32)

SAMPLES = {
    "add_layer_norm": Sample((_X, _D, _W, _B), mapped=(0, 1)),
    "add_rms_norm": Sample((_X, _D, _W), mapped=(0, 1)),
    "attention": Sample((_QUERIES, _KEYS, _VALUES), {"causal": True}, (0, 1, 2), np.float32),
    "causal_conv1d": Sample((_X, _normal(8, 3), _B, _normal(2, 2, 8)), {"activation": "silu"}, (0, 3)),
    "cross_entropy": Sample((_X.astype(np.float32), _CLASSES), {"label_smoothing": 0.1}, (0, 1), np.float32),
    "cumsum": Sample((_X,), {"reverse": True}),
    "cumsum_backward": Sample((_D,), {"reverse": False}),
    "embedding": Sample((_TABLE, _INDICES), mapped=(1,)),
    "embedding_backward": Sample((_D, _TABLE, _INDICES)),
    "embedding_bag": Sample((_TABLE, np.array([4, 0, 4], np.int32), _BEGINS, _normal(3)), mapped=(3,)),
    "fused_linear_cross_entropy": Sample(
        (_X.astype(np.float32), _normal(9, 8).astype(np.float32), _CLASSES), mapped=(0, 2), dtype=np.float32
    ),
    "geglu": Sample((_X, _D), {"approximate": "tanh"}, (0, 1)),
    "gelu": Sample((_X,)),
    "gelu_backward": Sample((_D, _X), {"approximate": "none"}, (0, 1)),
    "group_norm": Sample((_IMAGES, _W[:4], _B[:4]), {"groups": 2}),
    "grouped_linear": Sample(
        (_TABLE.astype(np.float32), _normal(3, 4, 8).astype(np.float32), _BEGINS), mapped=(0,), dtype=np.float32
    ),
    "l2_normalize": Sample((_X,)),
    "l2_normalize_backward": Sample((_D, _X), {"eps": 1e-12}, (0, 1)),
    "layer_norm": Sample((_X, _W, _B)),
    "layer_norm_backward": Sample((_D, _X, _W), {"eps": 1e-5}, (0, 1)),
    "linear": Sample((_X, _normal(5, 8), _normal(5)), {"activation": "silu"}),
    "masked_attention": Sample(
        (_QUERIES, _KEYS, _VALUES, _normal(1, 4, 3, 3).astype(np.float32), _normal(4).astype(np.float32)),
        {"causal": True},
        (0, 1, 2),
        np.float32,
    ),
    "mean_pool": Sample((_X, _TOKENS), mapped=(0, 1)),
    "mean_pool_backward": Sample((_normal(2, 8), _TOKENS), mapped=(0, 1)),
    "rms_norm": Sample((_X, _W)),
    "rms_norm_backward": Sample((_D, _X, _W), {"eps": 1e-6}, (0, 1)),
    "rope": Sample((_HEADS, _COS, _SIN)),
    "rope_backward": Sample((_HEADS, _COS, _SIN), {"interleaved": True}),
    "scatter_sum": Sample((_TABLE, np.array([2, 0, 2, 0, 2], np.int32)), {"rows": 4}),
    "scatter_sum_backward": Sample((_normal(4, 8), np.array([2, 0, 2], np.int32)), {"rows": 4}),
    "segment_sum": Sample((_TABLE, _BEGINS), mapped=(0,)),
    "segment_sum_backward": Sample((_normal(3, 8), _TABLE, _BEGINS), mapped=(0,)),
    "softmax": Sample((_X,)),
    "softmax_backward": Sample((_D, _PROBS), mapped=(0, 1)),
    "softmax_columns": Sample((_X,)),
    "softmax_columns_backward": Sample((_D, _X), mapped=(0, 1)),
    "softmax_mask_backward": Sample((_D, _PROBS, _normal(1, 3, 8)), mapped=(0, 1)),
    "swiglu": Sample((_X, _D), mapped=(0, 1)),
    "topk": Sample((_DISTINCT,), {"k": 3}, dtype=np.float32),
    **{name: Sample((_X,)) for name in ROW_ACTIVATIONS},
    "varlen_attention": Sample(
        (_QUERIES[0], _KEYS[0], _VALUES[0], _ENDS, _ENDS), {"causal": True}, (0, 1, 2), np.float32
    ),
}
SAMPLES |= INFERENCE_SAMPLES
SAMPLES = dict(sorted(SAMPLES.items()))
