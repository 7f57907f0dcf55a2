"""Facts in the signatures of the wheel beyond shapes: who has a gradient, who works column by column, whose bits are the same on
every run; and that it's so."""

import re

import kernpack_kernels
import numpy as np
import pytest
import torch
from arrays import get_values, make
from support.row_activations import ROW_ACTIVATIONS

OPS = (
    "cumsum",
    "embedding",
    "gelu",
    "l2_normalize",
    "layer_norm",
    "mean_pool",
    "rms_norm",
    "scatter_sum",
    "segment_sum",
    "softmax",
    "softmax_columns",
)
COLUMNS = {
    "embedding",
    "mean_pool",
    "scatter_sum",
    "segment_sum",
    "softmax_columns",
}  # with whatever is derived from them
FIRST_ORDER = {
    "add_layer_norm",
    "add_rms_norm",
    "attention",
    "causal_conv1d",
    "cross_entropy",
    "embedding_bag",
    "fused_linear_cross_entropy",
    "geglu",
    "group_norm",
    "grouped_linear",
    "linear",
    "masked_attention",
    "rope",
    "swiglu",
    "topk",
    "varlen_attention",
    *ROW_ACTIVATIONS,
}  # rope has forward mode too: it's linear
# Ops without a gradient, and why.
INFERENCE = {
    "adamw": "a step of an optimizer, in place",
    "apply_repetition_penalty": "in place, for sampling",
    "apply_rope": "in place: rope has one",
    "argmax": "integers",
    "causal_conv1d_update": "in place: causal_conv1d has one",
    "clip_grad_norm": "between backward pass and optimizer, in place",
    "lion": "a step of an optimizer, in place",
    "pack_int4": "integers",
    "pack_int8": "integers",
    "pack_linear": "made for inference: linear has one",
    "pack_q4_0": "bytes",
    "pack_q4_1": "bytes",
    "pack_q4_k": "bytes",
    "pack_q6_k": "bytes",
    "pack_q8_0": "bytes",
    "paged_attention": "made for inference: beside a cache nothing is trained",
    "paged_quantize": "in place, bytes",
    "paged_store": "in place",
    "packed_embedding": "a packed weight is bytes",
    "packed_linear": "its weight is bytes, its activations may be rounded to 8 bits",
    "sample": "integers",
    "sort_into_groups": "integers",
    "sgd": "a step of an optimizer, in place",
}


def base(name):
    if name in INFERENCE:
        return name
    return max((op for op in (*OPS, *FIRST_ORDER) if re.match(rf"{op}(_|$)", name)), key=len)


def test_every_op_has_first_and_second_order_in_both_modes(k):
    gradients, tangents = dict(k._gradients), {forward for forward, _ in k._jvps}
    for op in OPS:
        assert {op, gradients[op]} <= gradients.keys() & tangents
    assert gradients.keys() >= FIRST_ORDER
    assert set(k.functions) == {*OPS, *FIRST_ORDER, *k._derivatives, *INFERENCE}
    assert not INFERENCE.keys() & gradients.keys()
    assert {b for f, b in k._gradients if f in OPS} <= {f for f, _ in k._gradients}


def test_completion_offers_the_operations(k):
    """No operation of the wheel is another's derivative, too; what is left out is called by its name."""
    assert dir(k) == sorted({*OPS, *FIRST_ORDER, *INFERENCE})
    public = {name for name in dir(kernpack_kernels) if not name.startswith("_")}
    assert public - {"torch", "jax"} == set(dir(k))  # the submodules, where something imported them
    assert kernpack_kernels.softmax_backward is k.softmax_backward is k.functions["softmax_backward"].callable


def test_nothing_is_declared_to_have_no_gradient(k):
    """All that could have one has one; what is asked for its shape only has a true zero. But for tables of angles, and for second
    order of what has the first only."""
    declared = {
        name: set(f.typed["props"]["nondiff"]) for name, f in k.functions.items() if f.typed["props"]["nondiff"]
    }
    assert declared.pop("rope") == declared.pop("rope_backward") == {"cos", "sin"}
    assert declared.keys() == {
        "add_layer_norm_backward",
        "add_rms_norm_backward",
        "attention_backward",
        "attention_sinks_backward",
        "causal_conv1d_backward",
        "cross_entropy_backward",
        "embedding_bag_backward",
        "embedding_bag_weights_backward",
        "fused_linear_cross_entropy_backward",
        "geglu_backward",
        "group_norm_backward",
        "grouped_linear_backward",
        "linear_backward",
        "masked_attention_backward",
        "masked_attention_mask_backward",
        "swiglu_backward",
        "topk_backward",
        "varlen_attention_backward",
        *(f"{name}_backward" for name in ROW_ACTIVATIONS),
    }


def test_what_works_column_by_column_says_so(k):
    for name, function in k.functions.items():
        assert function.typed["props"]["independent"] == (["D"] if base(name) in COLUMNS else []), name


def test_columns_are_independent(k):
    """The op on some columns gives those columns of its results: what `independent` means."""
    rng = np.random.default_rng(0)
    table, x, d = rng.normal(size=(5, 6)), rng.normal(size=(2, 3, 6)), rng.normal(size=(2, 6))
    indices, mask = np.array([[0, 4, 0], [1, 1, 2]]), np.array([[1, 0, 1], [1, 1, 1]])
    for run in (
        lambda c: k.embedding(table[:, c].copy(), indices),
        lambda c: k.embedding_backward(x[..., c].copy(), table[:, c].copy(), indices),
        lambda c: k.segment_sum(table[:, c].copy(), np.array([0, 2])),
        lambda c: k.segment_sum_backward(d[:, c].copy(), table[:, c].copy(), np.array([0, 2])),
        lambda c: k.scatter_sum(table[:, c].copy(), indices.reshape(-1)[:5], rows=6),
        lambda c: k.scatter_sum_backward(table[:, c].copy(), indices.reshape(-1), rows=5),
        lambda c: k.softmax_columns(x[..., c].copy()),
        lambda c: k.softmax_columns_backward(x[..., c].copy(), x[..., c].copy()),
        lambda c: k.mean_pool(x[..., c].copy(), mask),
        lambda c: k.mean_pool_backward(d[:, c].copy(), mask),
    ):
        np.testing.assert_array_equal(run(slice(2, 5)), run(slice(None))[..., 2:5])


def test_every_op_is_deterministic(k):
    assert not [n for n, f in k.functions.items() if not f.typed["props"]["deterministic"]]


def calls(k):
    """Of each function a call large enough for several threads."""
    rng = np.random.default_rng(1)

    def new(*shape):
        return make(rng.normal(size=shape), "f32")[0]

    def tensors(*shapes):
        return [torch.from_numpy(new(*s)) for s in shapes]

    x, d, u, t = tensors(*[(900, 133)] * 4)
    w, b, tw = tensors((133,), (133,), (133,))
    probs = k.softmax(x).reshape(30, 30, 133)
    c, s = d.reshape(30, 30, 133), u.reshape(30, 30, 133)
    mask, row = tensors((1, 30, 133), (1, 1, 133))
    table, indices = tensors((40, 133))[0], torch.from_numpy(rng.integers(0, 40, 900))
    tokens, kept = x.reshape(30, 30, 133), torch.from_numpy(rng.random((30, 30)) < 0.7)
    eps, kind = {"eps": 1e-5}, {"approximate": "tanh"}
    begins = torch.tensor([0, 3, 3, 400, 890])
    return {
        "cumsum": lambda: k.cumsum(x),
        "cumsum_backward": lambda: k.cumsum_backward(x, reverse=False),
        "segment_sum": lambda: k.segment_sum(x, begins),
        "segment_sum_backward": lambda: k.segment_sum_backward(d[:5], x, begins),
        "scatter_sum": lambda: k.scatter_sum(x, indices, rows=40),
        "scatter_sum_backward": lambda: k.scatter_sum_backward(table, indices, rows=40),
        "embedding": lambda: k.embedding(table, indices),
        "embedding_backward": lambda: k.embedding_backward(x, table, indices),
        "gelu": lambda: k.gelu(x),
        "gelu_backward": lambda: k.gelu_backward(d, x, **kind),
        "gelu_backward_backward": lambda: k.gelu_backward_backward(u, d, x, **kind),
        "l2_normalize": lambda: k.l2_normalize(x),
        "l2_normalize_backward": lambda: k.l2_normalize_backward(d, x, **eps),
        "l2_normalize_backward_backward": lambda: k.l2_normalize_backward_backward(u, d, x, **eps),
        "layer_norm": lambda: k.layer_norm(x, w, b),
        "layer_norm_backward": lambda: k.layer_norm_backward(d, x, w, **eps),
        "layer_norm_backward_backward": lambda: k.layer_norm_backward_backward(u, tw, b, d, x, w, **eps),
        "layer_norm_jvp": lambda: k.layer_norm_jvp(x, w, t, tw, b, **eps),
        "mean_pool": lambda: k.mean_pool(tokens, kept),
        "mean_pool_backward": lambda: k.mean_pool_backward(x[:30], kept),
        "rms_norm": lambda: k.rms_norm(x, w),
        "rms_norm_backward": lambda: k.rms_norm_backward(d, x, w, **eps),
        "rms_norm_backward_jvp": lambda: k.rms_norm_backward_jvp(d, x, w, u, t, tw, **eps),
        "softmax": lambda: k.softmax(tokens, mask),
        "softmax_backward": lambda: k.softmax_backward(c, probs),
        "softmax_mask_backward": lambda: k.softmax_mask_backward(c, probs, mask),
        "softmax_mask_backward one row": lambda: k.softmax_mask_backward(c, probs, row),
        "softmax_mask_backward_jvp": lambda: k.softmax_mask_backward_jvp(c, probs, row, s, s, None),
        "softmax_jvp": lambda: k.softmax_jvp(probs, s, mask),
        "softmax_backward_backward": lambda: k.softmax_backward_backward(s, c, probs),
    }


def bits(results):
    return [r.numpy().tobytes() for r in (results if isinstance(results, tuple) else (results,))]


def test_the_same_bits_on_any_number_of_threads(k):
    before = torch.get_num_threads()
    found = {}
    try:
        for threads in (1, 2, 3, 8):
            torch.set_num_threads(threads)
            for name, call in calls(k).items():
                assert bits(call()) == found.setdefault(name, bits(call())), f"{name} on {threads} threads"
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_long_sums_over_rows(k, dtype):
    """A mask of one row beside many rows: cut into parts, each added up in the type that the kernels compute in."""
    rng = np.random.default_rng(2)
    probs, p64 = make(rng.dirichlet(np.ones(16), (64, 256)), dtype)
    d, d64 = make(rng.normal(size=(64, 256, 16)), dtype)
    mask, _ = make(np.zeros((1, 1, 16)), dtype)
    expected = ((d64 - (d64 * p64).sum(-1, keepdims=True)) * p64).sum((0, 1))[None, None]
    found = get_values(k.softmax_mask_backward(d, probs, mask))
    np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype == "f32" else 8e-3, atol=2e-4)
