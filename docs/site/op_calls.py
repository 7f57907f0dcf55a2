"""The calls of each op of the kernel wheel that op_facts.py measures, with the exact results: those of
tests/python/kernels/reference.py, in NumPy's long double, on normal random numbers."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from op_formulas import ROW_ACTIVATIONS

ROOT = Path(__file__).resolve().parents[2]
ROWS, COLUMNS = 64, 1000


def _tests_module(name: str, file: str) -> ModuleType:
    """A file of the tests, under another name: this folder has files of the same names."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tests" / file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


exact = _tests_module("exact", "python/kernels/reference.py")
ggml = _tests_module("ggml", "support/ggml_blocks.py")

# One rounding of the result or of the sum; what is in front of it was rounded too.
LINEAR_TOLERANCE = {"f32": 5e-6, "f64": 1e-14, "f16": 1.2e-3, "bf16": 1e-2}
GROUPED_TOLERANCE = {dtype: bound for dtype, bound in LINEAR_TOLERANCE.items() if dtype != "f64"}
LOSS_TOLERANCE = {"f32": 1e-5, "f16": 2e-3, "bf16": 1.6e-2}
OPTIMIZER_TOLERANCE = {"f32": 2e-6, "f16": 2e-3, "bf16": 1.6e-2}


def _plain(function: Callable[..., Any], *arguments: np.ndarray, **keywords: Any) -> Any:
    return function(*arguments, **keywords)


@dataclass(frozen=True)
class Call:
    """A call of an op or of its gradient: arguments, of which float64 ones become the dtype, and the exact results. run: how the op is
    called with copies of them, and what of it is compared."""

    arguments: list[np.ndarray]
    keywords: dict[str, Any]
    results: Callable[..., Any]
    tolerance: dict[str, float] = field(default_factory=lambda: exact.TOLERANCE)  # of the dtypes that it takes
    run: Callable[..., Any] = _plain


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def _indices() -> np.ndarray:
    return np.random.default_rng(0).integers(0, ROWS, 3 * ROWS)


def _embedding_backward(d_out: np.ndarray, table: np.ndarray, indices: np.ndarray) -> np.ndarray:
    gradient = np.zeros(table.shape, d_out.dtype)
    np.add.at(gradient, indices, d_out)
    return gradient


def _rows_of_x() -> np.ndarray:
    return np.random.default_rng(2).integers(0, 20, ROWS)


def _scatter_sum(x: np.ndarray, indices: np.ndarray, rows: int = 20) -> np.ndarray:
    out = np.zeros((rows, x.shape[1]), x.dtype)
    np.add.at(out, indices, x)
    return out


def _embedding_bag_backward(
    d_out: np.ndarray, table: np.ndarray, indices: np.ndarray, begins: np.ndarray, mode: str = "sum"
) -> np.ndarray:
    return _embedding_backward(np.repeat(d_out, np.diff([*begins, len(indices)]), 0), table, indices)


def _causal_conv(x: np.ndarray, filters: np.ndarray) -> np.ndarray:
    taps = filters.shape[1]
    padded = np.pad(x, ((0, 0), (taps - 1, 0), (0, 0)))
    return sum(padded[:, w : w + x.shape[1]] * filters[:, w] for w in range(taps))  # type: ignore[return-value]


def _causal_conv_backward(
    d_out: np.ndarray, x: np.ndarray, filters: np.ndarray, activation: str = "none"
) -> tuple[np.ndarray, ...]:
    taps, rows = filters.shape[1], x.shape[1]
    padded = np.pad(x, ((0, 0), (taps - 1, 0), (0, 0)))
    d_padded = np.zeros_like(padded)
    for w in range(taps):
        d_padded[:, w : w + rows] += d_out * filters[:, w]
    d_filters = np.stack([(padded[:, w : w + rows] * d_out).sum((0, 1)) for w in range(taps)], -1)
    return d_padded[:, taps - 1 :], d_filters, d_out.sum((0, 1)), d_padded[:, : taps - 1]


X, D_OUT, WEIGHT = _random(ROWS, COLUMNS), _random(ROWS, COLUMNS) + 1, _random(COLUMNS)
BEGINS = np.array([0, 5, 40])
SEQUENCES, FILTERS = _random(2, 40, 33), _random(33, 4)
GATE, UP = 5 * _random(ROWS, 300), _random(ROWS, 301)[:, :300]
HEADS, TURNS = [_random(2, 40, heads, 32) for heads in (4, 2, 2)], _random(1, 40, 16).astype(np.float32)
ANGLES = [np.cos(TURNS), np.sin(TURNS)]
TOKENS, MASK = _random(ROWS, 16, 100), np.random.default_rng(1).random((ROWS, 16)) < 0.7


def _groups(begins: np.ndarray) -> list[slice]:
    return [slice(a, b) for a, b in zip(begins, [*begins[1:], ROWS], strict=True)]


def _grouped_linear(x: np.ndarray, experts: np.ndarray, begins: np.ndarray) -> np.ndarray:
    return np.concatenate([x[rows] @ w.T for rows, w in zip(_groups(begins), experts, strict=True)])


def _grouped_linear_backward(
    d_out: np.ndarray, x: np.ndarray, experts: np.ndarray, begins: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    groups = _groups(begins)
    d_x = np.concatenate([d_out[rows] @ w for rows, w in zip(groups, experts, strict=True)])
    return d_x, np.stack([d_out[rows].T @ x[rows] for rows in groups])


def _add_rms_norm(x: np.ndarray, residual: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return exact.rms_norm(x + residual, weight), x + residual


def _add_rms_norm_backward(
    d_out: np.ndarray, d_sum: np.ndarray, sums: np.ndarray, weight: np.ndarray, eps: float = 1e-6
) -> tuple[np.ndarray, ...]:
    d_x, d_weight = exact.rms_norm_backward(d_out, sums, weight, eps)
    return d_x + d_sum, d_x + d_sum, d_weight


def _add_layer_norm(
    x: np.ndarray, residual: np.ndarray, weight: np.ndarray, bias: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    return exact.layer_norm(x + residual, weight, bias), x + residual


def _add_layer_norm_backward(
    d_out: np.ndarray, d_sum: np.ndarray, sums: np.ndarray, weight: np.ndarray, eps: float = 1e-5
) -> tuple[np.ndarray, ...]:
    d_x, *of_weights = exact.layer_norm_backward(d_out, sums, weight, eps)
    return d_x + d_sum, d_x + d_sum, *of_weights


def _swiglu_backward(d_out: np.ndarray, gate: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return d_out * up * ROW_ACTIVATIONS["silu"].slope(gate), d_out * exact.silu(gate)


def _geglu_backward(d_out: np.ndarray, gate: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return d_out * up * exact.gelu_slopes(gate)[0], d_out * exact.gelu(gate)


IMAGES, OF_CHANNELS = _random(4, 12, 40, 5), _random(12)


def _rows(x: np.ndarray) -> np.ndarray:
    return x.reshape(len(x) * 3, -1)  # three groups


def _spread(values: np.ndarray) -> np.ndarray:
    return _rows(np.broadcast_to(values[:, None, None], IMAGES.shape))


def _group_norm(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return exact.layer_norm(_rows(x), _spread(weight)).reshape(x.shape)


def _group_norm_backward(d_out: np.ndarray, x: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, ...]:
    d_x = exact.layer_norm_backward(_rows(d_out), _rows(x), _spread(weight))[0]
    unit = exact.layer_norm(_rows(x), 1.0).reshape(x.shape)
    return d_x.reshape(x.shape), (d_out * unit).sum((0, 2, 3)), d_out.sum((0, 2, 3))


WANTED = 20
NO_ERROR = {"f32": 0.0, "f16": 0.0, "bf16": 0.0}  # values are copied


def _topk(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(-x, axis=-1, kind="stable")[:, :WANTED]
    return np.take_along_axis(x, order, -1), order


def _topk_backward(d_values: np.ndarray, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    gradient = np.zeros_like(x)
    np.put_along_axis(gradient, indices, d_values, -1)
    return gradient


SEEN = np.random.default_rng(4).integers(0, COLUMNS, (ROWS, 30))


def _penalized(x: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    out, values = x.copy(), np.take_along_axis(x, tokens, -1)
    np.put_along_axis(out, tokens, np.where(values < 0, values * 1.5, values / 1.5), -1)
    return out


CALLS = {
    "add_rms_norm": Call([X, D_OUT, WEIGHT], {}, _add_rms_norm),
    "add_rms_norm_backward": Call([D_OUT, X, 3 * X, WEIGHT], {"eps": 1e-6}, _add_rms_norm_backward),
    "add_layer_norm": Call([X, D_OUT, WEIGHT, _random(COLUMNS) - 1], {}, _add_layer_norm),
    "add_layer_norm_backward": Call([D_OUT, X, 3 * X, WEIGHT], {"eps": 1e-5}, _add_layer_norm_backward),
    "attention": Call(
        HEADS, {"causal": True}, lambda *heads: exact.attention(*heads, causal=True), exact.ATTENTION_TOLERANCE
    ),
    "apply_repetition_penalty": Call(
        [X, SEEN],
        {},
        _penalized,
        {"f32": 1e-6, "f16": 1e-3, "bf16": 8e-3},
        lambda f, x, tokens: (f(x, tokens, penalty=1.5), x)[1],
    ),
    "topk": Call([X], {"k": WANTED}, _topk, NO_ERROR),
    "topk_backward": Call(
        [D_OUT[:, :WANTED], X, _topk(X)[1].astype(np.int32)], {"k": WANTED}, _topk_backward, NO_ERROR
    ),
    "cumsum": Call([X], {}, lambda x: np.cumsum(x, -1)),
    "cumsum_backward": Call([D_OUT], {"reverse": False}, lambda d: np.cumsum(d[..., ::-1], -1)[..., ::-1]),
    "segment_sum": Call([X, BEGINS], {}, lambda x, begins: np.add.reduceat(x, begins, 0)),
    "segment_sum_backward": Call(
        [D_OUT[:3], X, BEGINS], {}, lambda d, x, begins: np.repeat(d, np.diff([*begins, len(x)]), 0)
    ),
    "scatter_sum": Call([X, _rows_of_x()], {"rows": 20}, _scatter_sum),
    "scatter_sum_backward": Call([D_OUT[:20], _rows_of_x()], {"rows": 20}, lambda d, indices: d[indices]),
    "softmax_columns": Call([X], {}, lambda x: exact.softmax(x.T.copy()).T),
    "softmax_columns_backward": Call(
        [D_OUT, exact.softmax(X.T.copy()).T.copy()],
        {},
        lambda d, probs: exact.softmax_backward(d.T.copy(), probs.T.copy())[0].T,
    ),
    "embedding_bag": Call([X, _indices(), BEGINS], {}, lambda x, i, begins: np.add.reduceat(x[i], begins, 0)),
    "embedding_bag_backward": Call([D_OUT[:3], X, _indices(), BEGINS], {"mode": "sum"}, _embedding_bag_backward),
    "embedding_bag_weights_backward": Call(
        [D_OUT[:3], X, _indices(), BEGINS, _random(3 * ROWS)],
        {"mode": "sum"},
        lambda d, x, i, begins, _: (np.repeat(d, np.diff([*begins, len(i)]), 0) * x[i]).sum(-1),
    ),
    "causal_conv1d": Call([SEQUENCES, FILTERS], {}, _causal_conv),
    "causal_conv1d_update": Call(
        [SEQUENCES, np.zeros((2, 3, 33)), FILTERS], {}, lambda x, _, filters: _causal_conv(x, filters)
    ),
    "causal_conv1d_backward": Call(
        [SEQUENCES[:, ::-1] + 1, SEQUENCES, FILTERS], {"activation": "none"}, _causal_conv_backward
    ),
    "embedding": Call([X, _indices()], {}, lambda table, indices: table[indices]),
    "embedding_backward": Call([_random(3 * ROWS, COLUMNS), X, _indices()], {}, _embedding_backward),
    "geglu": Call([GATE, UP], {}, lambda gate, up: exact.gelu(gate) * up),
    "geglu_backward": Call([GATE - UP, GATE, UP], {"approximate": "none"}, _geglu_backward),
    "gelu": Call([X], {}, exact.gelu),
    "gelu_backward": Call([D_OUT, X], {"approximate": "none"}, lambda d_out, x: d_out * exact.gelu_slopes(x)[0]),
    "group_norm": Call([IMAGES, OF_CHANNELS], {"groups": 3}, _group_norm),
    "group_norm_backward": Call(
        [IMAGES[::-1] + 1, IMAGES, OF_CHANNELS], {"groups": 3, "eps": 1e-5}, _group_norm_backward
    ),
    "l2_normalize": Call([X], {}, exact.l2_normalize),
    "l2_normalize_backward": Call([D_OUT, X], {"eps": 1e-12}, exact.l2_normalize_backward),
    "layer_norm": Call([X, WEIGHT, _random(COLUMNS) - 1], {}, exact.layer_norm),
    "layer_norm_backward": Call([D_OUT, X, WEIGHT], {"eps": 1e-5}, exact.layer_norm_backward),
    "mean_pool": Call([TOKENS, MASK], {}, exact.mean_pool),
    "mean_pool_backward": Call([_random(ROWS, 100), MASK], {}, exact.mean_pool_backward),
    "rms_norm": Call([X, WEIGHT], {}, exact.rms_norm),
    "rms_norm_backward": Call([D_OUT, X, WEIGHT], {"eps": 1e-6}, exact.rms_norm_backward),
    "rope": Call([HEADS[0], *ANGLES], {}, exact.rope),
    "rope_backward": Call([HEADS[0], *ANGLES], {"interleaved": False}, lambda d, cos, sin: exact.rope(d, cos, -sin)),
    "softmax": Call([X], {}, exact.softmax),
    "softmax_backward": Call([D_OUT, exact.softmax(X)], {}, exact.softmax_backward),
    "swiglu": Call([GATE, UP], {}, lambda gate, up: exact.silu(gate) * up),
    "swiglu_backward": Call([GATE - UP, GATE, UP], {}, _swiglu_backward),
}
for _name, _activation in ROW_ACTIVATIONS.items():
    CALLS[_name] = Call([X], {}, _activation.value)
    CALLS[f"{_name}_backward"] = Call([D_OUT, X], {}, lambda d_out, x, slope=_activation.slope: d_out * slope(x))


# --- attention


ATTENTION = {"scale": None, "causal": True, "window": 0, "soft_cap": 0.0}
MASK_OF_KEYS = np.random.default_rng(2).random((2, 1, 40, 40)) < 0.7
ENDS = np.array([0, 13, 40], np.int32)  # two sequences, one behind the other


def _scores(q: np.ndarray, k: np.ndarray, mask: np.ndarray) -> np.ndarray:
    scores = np.einsum("bshd,blhd->bhsl", q, np.repeat(k, q.shape[2] // k.shape[2], 2)) * q.shape[3] ** -0.5
    return np.where(mask, scores, -np.inf)


def _attention_state(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The context and the logarithm of each row's sum."""
    scores, shared = _scores(q, k, mask), q.shape[2] // k.shape[2]
    context = np.einsum("bhsl,blhd->bshd", exact.softmax(scores), np.repeat(v, shared, 2))
    return context, np.log(np.exp(scores).sum(-1))


CAUSAL = np.tri(40, dtype=bool)[None, None]
IN_PARTS = (np.arange(40)[:, None] < ENDS[1]) == (np.arange(40) < ENDS[1])  # as varlen_attention's sequences are


def _gradients(
    mask: np.ndarray,
    d_context: np.ndarray,
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    context: np.ndarray,
    sums: np.ndarray,
) -> tuple[np.ndarray, ...]:
    """By the chain rule, with the saved results as they are given."""
    shared, scale = q.shape[2] // k.shape[2], q.shape[3] ** -0.5
    keys, values = np.repeat(k, shared, 2), np.repeat(v, shared, 2)
    p = np.exp(_scores(q, k, mask) - sums[..., None])
    d_p = np.einsum("bshd,blhd->bhsl", d_context, values)
    d_scores = p * (d_p - np.einsum("bshd,bshd->bhs", d_context, context)[..., None]) * scale
    d_k = np.einsum("bhsl,bshd->blhd", d_scores, q).reshape(*k.shape[:3], shared, k.shape[3]).sum(3)
    d_v = np.einsum("bhsl,bshd->blhd", p, d_context).reshape(*k.shape[:3], shared, k.shape[3]).sum(3)
    return np.einsum("bhsl,blhd->bshd", d_scores, keys), d_k, d_v


def _attention_backward(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    return _gradients(CAUSAL, *arrays)


def _masked_attention_backward(
    d: np.ndarray,
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    mask: np.ndarray,
    context: np.ndarray,
    sums: np.ndarray,
) -> tuple[np.ndarray, ...]:
    return _gradients(mask, d, q, k, v, context, sums)


def _varlen_state() -> tuple[np.ndarray, np.ndarray]:
    """As the op saves it: the sums of a sequence are a block [heads, queries]."""
    context, sums = _attention_state(*(x[:1] for x in HEADS), IN_PARTS)
    return context[0], np.concatenate([sums[0, :, a:b].ravel() for a, b in itertools.pairwise(ENDS)]).reshape(40, -1)


def _varlen_attention_backward(
    d: np.ndarray,
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    queries: np.ndarray,
    keys: np.ndarray,
    context: np.ndarray,
    sums: np.ndarray,
) -> tuple[np.ndarray, ...]:
    heads = q.shape[1]
    blocks = [sums.ravel()[a * heads : b * heads].reshape(heads, b - a) for a, b in itertools.pairwise(ENDS)]
    of_rows = np.concatenate(blocks, axis=1)[None]
    return tuple(x[0] for x in _gradients(IN_PARTS, d[None], q[None], k[None], v[None], context[None], of_rows))


CONTEXT, SUMS = _attention_state(*HEADS, CAUSAL)
MASKED, MASKED_SUMS = _attention_state(*HEADS, MASK_OF_KEYS)
VARLEN, VARLEN_SUMS = _varlen_state()
GRADIENT_TOLERANCE = {"f32": 1e-5, "f16": 5e-3, "bf16": 4e-2}
NOT_CAUSAL = ATTENTION | {"causal": False}


SINKS = np.linspace(-2, 2, HEADS[0].shape[2])


def _attention_sinks_backward(
    d_context: np.ndarray, context: np.ndarray, sums: np.ndarray, sinks: np.ndarray
) -> np.ndarray:
    """Of a sink's weight; its value is zeros."""
    along = np.einsum("bshd,bshd->bhs", d_context, context)
    return -(np.exp(sinks[:, None] - sums) * along).sum((0, 2))


def _masked_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray) -> np.ndarray:
    shared = q.shape[2] // k.shape[2]
    scores = np.einsum("bshd,blhd->bhsl", q, np.repeat(k, shared, 2)) * q.shape[3] ** -0.5
    return np.einsum("bhsl,blhd->bshd", exact.softmax(scores, mask), np.repeat(v, shared, 2))


def _varlen_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    parts = itertools.pairwise(ENDS)
    return np.concatenate([exact.attention(q[None, a:b], k[None, a:b], v[None, a:b])[0] for a, b in parts])


CALLS |= {
    "attention_backward": Call(
        [CONTEXT[::-1], *HEADS, CONTEXT, SUMS.astype(np.float32)],
        ATTENTION,
        _attention_backward,
        GRADIENT_TOLERANCE,
        lambda f, d, q, k, v, context, sums, **options: f(d, q, k, v, context, sums, None, **options),
    ),
    "attention_sinks_backward": Call(
        [CONTEXT[::-1], CONTEXT, SUMS.astype(np.float32), SINKS.astype(np.float32)],
        {},
        _attention_sinks_backward,
        GRADIENT_TOLERANCE,
    ),
    "masked_attention_backward": Call(
        [MASKED[::-1], *HEADS, MASK_OF_KEYS, MASKED, MASKED_SUMS.astype(np.float32)],
        NOT_CAUSAL,
        _masked_attention_backward,
        GRADIENT_TOLERANCE,
    ),
    "varlen_attention_backward": Call(
        [VARLEN[::-1], *(x[0] for x in HEADS), ENDS, ENDS, VARLEN, VARLEN_SUMS.astype(np.float32)],
        NOT_CAUSAL,
        _varlen_attention_backward,
        GRADIENT_TOLERANCE,
    ),
    "masked_attention": Call([*HEADS, MASK_OF_KEYS], {}, _masked_attention, exact.ATTENTION_TOLERANCE),
    "varlen_attention": Call([*(x[0] for x in HEADS), ENDS, ENDS], {}, _varlen_attention, exact.ATTENTION_TOLERANCE),
    "apply_rope": Call([HEADS[0], *ANGLES], {}, exact.rope, run=lambda f, x, cos, sin: (f(x, cos, sin), x)[1]),
}

# --- products and losses

NARROW, WIDE, BIAS = _random(ROWS, 96), _random(130, 96), _random(130)
EXPERTS = _random(3, 30, NARROW.shape[1])
TARGETS = np.random.default_rng(3).integers(0, 130, ROWS)
LOSS = {"ignore_index": -100, "label_smoothing": 0.0, "z_loss": 0.0}
D_LOSS = _random(ROWS).astype(np.float32)


def _linear_backward(d_out: np.ndarray, x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, ...]:
    return d_out @ weight, d_out.T @ x, d_out.sum(0), d_out


def _sums(logits: np.ndarray) -> np.ndarray:
    return np.log(np.exp(logits).sum(-1))


def _cross_entropy(logits: np.ndarray, targets: np.ndarray) -> np.ndarray:
    return _sums(logits) - np.take_along_axis(logits, targets[:, None], -1)[:, 0]


def _cross_entropy_backward(
    d_loss: np.ndarray, logits: np.ndarray, targets: np.ndarray, sums: np.ndarray
) -> np.ndarray:
    slope = np.exp(logits - sums[:, None])
    slope[np.arange(len(targets)), targets] -= 1
    return slope * d_loss[:, None]


def _fused_backward(
    d_loss: np.ndarray, x: np.ndarray, weight: np.ndarray, targets: np.ndarray, sums: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    d_logits = _cross_entropy_backward(d_loss, x @ weight.T, targets, sums)
    return d_logits @ weight, d_logits.T @ x


LOGITS = 3 * _random(ROWS, 130)
SMALL = WIDE / np.sqrt(96)
CALLS |= {
    "linear": Call([NARROW, WIDE, BIAS], {}, lambda x, weight, bias: x @ weight.T + bias, LINEAR_TOLERANCE),
    "linear_backward": Call(
        [_random(ROWS, 130), NARROW, WIDE, BIAS], {"activation": "none"}, _linear_backward, LINEAR_TOLERANCE
    ),
    "grouped_linear": Call([NARROW, EXPERTS, BEGINS], {}, _grouped_linear, GROUPED_TOLERANCE),
    "grouped_linear_backward": Call(
        [_random(ROWS, 30), NARROW, EXPERTS, BEGINS], {}, _grouped_linear_backward, GROUPED_TOLERANCE
    ),
    "cross_entropy": Call([LOGITS, TARGETS], {}, _cross_entropy, LOSS_TOLERANCE),
    "cross_entropy_backward": Call(
        [D_LOSS, LOGITS, TARGETS, _sums(LOGITS).astype(np.float32)], LOSS, _cross_entropy_backward, LOSS_TOLERANCE
    ),
    "fused_linear_cross_entropy": Call(
        [NARROW, SMALL, TARGETS], {}, lambda x, weight, targets: _cross_entropy(x @ weight.T, targets), LOSS_TOLERANCE
    ),
    "fused_linear_cross_entropy_backward": Call(
        [D_LOSS, NARROW, SMALL, TARGETS, _sums(NARROW @ SMALL.T).astype(np.float32)],
        LOSS,
        _fused_backward,
        LOSS_TOLERANCE,
    ),
}

# --- optimizers: one step from a state in the middle of training; what is compared is the parameters

PARAMS, GRADS, MEAN = _random(ROWS * 7), _random(ROWS * 7 + 1)[1:], _random(ROWS * 7 + 2)[2:].astype(np.float32)
SQUARE = (MEAN**2 + 0.1).astype(np.float32)


def _adamw(p: np.ndarray, g: np.ndarray, mean: np.ndarray, square: np.ndarray) -> np.ndarray:
    mean, square = 0.9 * mean + (1 - 0.9) * g, 0.999 * square + (1 - 0.999) * g**2
    return p * (1 - 0.1 * 0.01) - 0.1 * (mean / (1 - 0.9**3)) / (np.sqrt(square / (1 - 0.999**3)) + 1e-8)


def _clipped(g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    norm = np.sqrt((g**2).sum())
    return norm, g / norm


CALLS |= {
    "adamw": Call(
        [PARAMS, GRADS, MEAN, SQUARE],
        {},
        _adamw,
        OPTIMIZER_TOLERANCE,
        lambda f, p, g, mean, square: (f([p], [g], [mean], [square], 3, 0.1), p)[1],
    ),
    "lion": Call(
        [PARAMS, GRADS, MEAN],
        {},
        lambda p, g, mean: p - 0.1 * np.sign(0.9 * mean + (1 - 0.9) * g),
        OPTIMIZER_TOLERANCE,
        lambda f, p, g, mean: (f([p], [g], [mean], 0.1), p)[1],
    ),
    "sgd": Call(
        [PARAMS, GRADS, MEAN],
        {},
        lambda p, g, momenta: p - 0.1 * (0.9 * momenta + g),
        OPTIMIZER_TOLERANCE,
        lambda f, p, g, momenta: (f([p], [g], [momenta], 0.1, momentum=0.9), p)[1],
    ),
    "clip_grad_norm": Call([GRADS], {}, _clipped, OPTIMIZER_TOLERANCE, lambda f, g: (f([g], max_norm=1.0), g)),
}
