"""A row, an item or a sequence has the same bits alone and in any batch, where docs/kernels.md says so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from support.row_activations import ROW_ACTIVATIONS
from test_contracts import FIRST_ORDER, INFERENCE, OPS

ROWS = 70
SIZES = (1, 2, 3, 4, 5, 8, 13, ROWS - 1)
WIDTH = 577  # whole vectors and a rest, at every level
DOCS = Path(__file__).resolve().parents[3] / "docs/kernels.md"
# Results that don't belong to a row, and results of a row that depend on its place.
WITHOUT = {name for name in INFERENCE if name.startswith("pack_")} | {
    "adamw",
    "clip_grad_norm",
    "embedding_bag",
    "grouped_linear",
    "lion",
    "sample",
    "scatter_sum",
    "segment_sum",
    "sgd",
    "sort_into_groups",
}
LIMITED = {"attention", "linear", "packed_linear"}  # to few keys, or to batches of so many rows
LEAST = {"linear": 5}


class Batch:
    """Values of a dtype. What `rows` makes has ROWS of them, of which a call takes a part."""

    def __init__(self, k, dtype):
        self.k, self.dtype, self.random = k, dtype, torch.Generator().manual_seed(0)

    def normal(self, *shape):
        return torch.randn(*shape, generator=self.random).to(self.dtype)

    def rows(self, *shape):
        return self.normal(ROWS, *shape)

    def whole(self, most, *shape, least=0):
        return torch.randint(least, most, shape, generator=self.random, dtype=torch.int32)

    def heads(self, queries, keys):
        return self.rows(queries, 4, 36), self.rows(keys, 2, 36), self.rows(keys, 2, 36)


def by_row(count, *options, weights=0, **named):
    """`count` arguments of rows, `weights` of a row's width."""

    def case(name):
        def of(b):
            x, w = [b.rows(WIDTH) for _ in range(count)], [b.normal(WIDTH) for _ in range(weights)]
            return lambda part: getattr(b.k, name)(*(a[part] for a in x), *w, *options, **named)

        return of

    return case


def classes(b):
    logits, targets = b.rows(WIDTH), b.whole(WIDTH, ROWS)
    return lambda part: b.k.cross_entropy(logits[part], targets[part], label_smoothing=0.1, z_loss=0.1)


def fused(b):
    x, weight, targets = b.rows(96), b.normal(3000, 96), b.whole(3000, ROWS)
    return lambda part: b.k.fused_linear_cross_entropy(x[part], weight, targets[part])


def linear(b):
    x, weight, bias, residual = b.rows(WIDTH), b.normal(150, WIDTH), b.normal(150), b.rows(150)
    return lambda part: b.k.linear(x[part], weight, bias, residual[part], activation="silu")


def packed(compute):
    def of(b):
        x, values, scales = b.rows(576), b.whole(8, 150, 576, least=-8).to(torch.int8), b.normal(150, 18)
        weight = b.k.pack_int4(values, scales)
        return lambda part: b.k.packed_linear(x[part], weight, compute=compute)

    return of


def dense(b):
    x, weight = b.rows(WIDTH), b.k.pack_linear(b.normal(150, WIDTH))
    return lambda part: b.k.packed_linear(x[part], weight)


def rotated(b, name):
    x, angles = b.rows(3, 4, 36), torch.randn(ROWS, 3, 16, generator=b.random)
    cos, sin = angles.cos(), angles.sin()

    def call(part):
        mine = x[part].clone()
        found = getattr(b.k, name)(mine, cos[part], sin[part])
        return mine if found is None else found

    return call


def attention(b, queries, keys, lengths, **options):
    q, k, v = b.heads(queries, keys)
    ends = [b.whole(keys + 1, ROWS, least=queries)] if lengths else []
    return lambda part: b.k.attention(q[part], k[part], v[part], *(e[part] for e in ends), **options)


def masked(b):
    q, k, v = b.heads(5, 700)
    mask = b.rows(4, 5, 700)
    return lambda part: b.k.masked_attention(q[part], k[part], v[part], mask[part])


def concatenated(b):
    q, k, v = b.heads(5, 700)

    def call(part):
        parts = [x[part].flatten(0, 1) for x in (q, k, v)]
        count = len(q[part])
        ends = [torch.arange(count + 1, dtype=torch.int32) * length for length in (5, 700)]
        return b.k.varlen_attention(*parts, *ends, causal=True).unflatten(0, (count, 5))

    return call


def paged(b):
    q, k, v = b.heads(2, 1100)
    table, lengths = torch.arange(ROWS, dtype=torch.int32)[:, None], b.whole(1101, ROWS, least=2)
    return lambda part: b.k.paged_attention(q[part], k, v, table[part], lengths[part])


def stored(b, name):
    x, lengths, room = b.rows(3, 2, 36), b.whole(9, ROWS, least=3), (ROWS, 8, 2, 36)

    def call(part):
        table = torch.arange(len(x[part]), dtype=torch.int32)[:, None]
        if name == "paged_store":
            written = [torch.zeros(room, dtype=b.dtype)]
        else:
            written = [torch.zeros(room, dtype=torch.int8), torch.zeros(room[:3])]
        getattr(b.k, name)(*written, x[part], table, lengths[part])
        return [w[: len(table)] for w in written]

    return call


def penalty(b):
    logits, tokens = b.rows(WIDTH), b.whole(WIDTH, ROWS, 9)

    def call(part):
        mine = logits[part].clone()
        b.k.apply_repetition_penalty(mine, tokens[part], penalty=1.3)
        return mine

    return call


def looked_up(b, name):
    indices = b.whole(40, ROWS, 3)
    if name == "embedding":
        table = b.normal(40, WIDTH)
        return lambda part: b.k.embedding(table, indices[part])
    packed_table = b.k.pack_int8(b.whole(8, 40, 64, least=-8).to(torch.int8), b.normal(40, 2))
    return lambda part: b.k.packed_embedding(packed_table, indices[part], columns=64)


def pooled(b):
    x, mask = b.rows(9, WIDTH), b.whole(2, ROWS, 9)
    return lambda part: b.k.mean_pool(x[part], mask[part])


def columns(b):
    x = b.rows(9, WIDTH)
    return lambda part: b.k.softmax_columns(x[part])


def convolved(b, name):
    x, state, weight, bias = b.rows(5, WIDTH), b.rows(3, WIDTH), b.normal(WIDTH, 4), b.normal(WIDTH)
    if name == "causal_conv1d":
        return lambda part: b.k.causal_conv1d(x[part], weight, bias, state[part], activation="silu")

    def call(part):
        mine = state[part].clone()
        return b.k.causal_conv1d_update(x[part], mine, weight, bias, activation="silu"), mine

    return call


def grouped(b):
    x, weight, bias = b.rows(12, 7, 5), b.normal(12), b.normal(12)
    return lambda part: b.k.group_norm(x[part], weight, bias, groups=3)


CASES = {
    "add_layer_norm": [by_row(2, weights=2)("add_layer_norm")],
    "add_rms_norm": [by_row(2, weights=1)("add_rms_norm")],
    "apply_repetition_penalty": [penalty],
    "apply_rope": [lambda b: rotated(b, "apply_rope")],
    "argmax": [by_row(1)("argmax")],
    "attention": [
        lambda b: attention(b, 1, 512, True),
        lambda b: attention(b, 80, 200, False, causal=True),
        lambda b: attention(b, 5, 300, True, causal=True, window=40, soft_cap=3.0),
    ],
    "causal_conv1d": [lambda b: convolved(b, "causal_conv1d")],
    "causal_conv1d_update": [lambda b: convolved(b, "causal_conv1d_update")],
    "cross_entropy": [classes],
    "cumsum": [by_row(1)("cumsum")],
    "embedding": [lambda b: looked_up(b, "embedding")],
    "fused_linear_cross_entropy": [fused],
    "geglu": [by_row(2)("geglu")],
    "gelu": [by_row(1)("gelu")],
    "group_norm": [grouped],
    "l2_normalize": [by_row(1)("l2_normalize")],
    "layer_norm": [by_row(1, weights=2)("layer_norm")],
    "linear": [linear],
    "masked_attention": [masked],
    "mean_pool": [pooled],
    "packed_embedding": [lambda b: looked_up(b, "packed_embedding")],
    "packed_linear": [dense, packed("i8"), packed("i16"), packed("bf16")],
    "paged_attention": [paged],
    "paged_quantize": [lambda b: stored(b, "paged_quantize")],
    "paged_store": [lambda b: stored(b, "paged_store")],
    "rms_norm": [by_row(1, weights=1)("rms_norm")],
    "rope": [lambda b: rotated(b, "rope")],
    "softmax": [by_row(1)("softmax")],
    "softmax_columns": [columns],
    "swiglu": [by_row(2)("swiglu")],
    "topk": [by_row(1, k=5)("topk")],
    **{name: [by_row(1)(name)] for name in ROW_ACTIVATIONS},
    "varlen_attention": [concatenated],
}


def assert_invariant(call, least=1):
    def results(part):
        found = call(part)
        return found if isinstance(found, (tuple, list)) else [found]

    whole = results(slice(None))
    for size in (size for size in SIZES if size >= least):
        for begin in (0, 1, ROWS - size):
            part = slice(begin, begin + size)
            for found, expected in zip(results(part), whole, strict=True):
                same = found.contiguous().view(torch.uint8), expected[part].contiguous().view(torch.uint8)
                assert torch.equal(*same), f"{size} of {ROWS} rows from row {begin}"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_a_row_has_the_same_bits_in_every_batch(k, name, dtype):
    for case in CASES[name]:
        assert_invariant(case(Batch(k, dtype)), LEAST.get(name, 1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_rows_of_a_packed_product_in_f32_from_as_many_as_the_manual_says(k, dtype):
    assert_invariant(packed("f32")(Batch(k, dtype)), 3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_auto_stands_for_integers_up_to_a_number_of_rows_then_for_one_other(k, dtype):
    b = Batch(k, dtype)
    x, values, scales = b.rows(96), torch.randint(-127, 128, (50, 96), dtype=torch.int8), torch.rand(50, 3)
    weight = k.pack_int8(values, scales)

    def same(rows):
        found = k.packed_linear(x[:rows], weight)
        kinds = ("i16", "bf16", "f32")
        return {c for c in kinds if torch.equal(found, k.packed_linear(x[:rows], weight, compute=c))}

    sames = [same(rows) for rows in range(1, ROWS + 1)]
    few = next((i for i, kinds in enumerate(sames) if "i16" not in kinds), ROWS)
    assert few >= 4
    assert few == ROWS or set.intersection(*sames[few:])


def test_the_table_of_the_manual_names_every_operation():
    section = DOCS.read_text(encoding="utf-8").split("\n## Batch invariance\n")[1].split("\n## ")[0]
    lines = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    named = [(name, promise.strip()) for names, promise in lines for name in re.findall(r"`(\w+)`", names)]
    assert sorted(name for name, _ in named) == sorted({*OPS, *FIRST_ORDER, *INFERENCE})
    assert {name for name, promise in named if promise == "in every batch"} == CASES.keys() - LIMITED
    assert {name for name, promise in named if promise.startswith("no: ")} == WITHOUT


def test_what_holds_in_every_batch_is_declared(k):
    """Left out are the sequences of varlen_attention, and what goes into a cache: they aren't a dim of any result."""
    declared = {name for name, function in k.functions.items() if function.typed["props"]["invariant"]}
    assert declared == CASES.keys() - LIMITED - {"varlen_attention", "paged_quantize", "paged_store"}
