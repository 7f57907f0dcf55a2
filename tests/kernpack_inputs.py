"""Inputs that the contracts of kernpack_kernels can't describe, for `kernpack test kernpack_kernels`."""

import math

import kernpack_kernels as kernels
import ml_dtypes
import numpy as np
from kernpack_sdk.testing import allow, argument, arguments

FLOATS = (np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))
LINEAR_PACKS = {"pack_q4_0": 18, "pack_q4_1": 20, "pack_q8_0": 34}  # bytes of a block of 32 columns

known = [
    allow("embedding", "influence", "padding_idx is for the gradient"),
    allow("sample", "rows", "the random numbers of a row are those of its index"),
    allow("sample", "*vmap", "the random numbers of a row are those of its index"),
    allow("paged_*", "strided", "a cache with a strided last dimension would be copied in every call: it's refused"),
]


def pick(rng, low, high):
    return int(rng.integers(low, high + 1))


def normal(rng, *shape, dtype=None):
    return rng.standard_normal(shape).astype(FLOATS[pick(rng, 0, 2)] if dtype is None else dtype)


def classes(rng, count, shape):
    """Numbers of classes, some of them the one that is ignored."""
    given = rng.integers(0, max(1, count), shape)
    return np.where((rng.random(shape) < 0.2) | (count == 0), -100, given)


def log_sum_exp(x):
    largest = x.max(-1, keepdims=True)
    return (np.log(np.exp(x - largest).sum(-1, keepdims=True)) + largest)[..., 0].astype(np.float32)


@argument("*cross_entropy", "targets")
def targets(draw):
    return classes(draw.rng, draw.dims["V"], draw.shape)


@arguments("cross_entropy_backward")
def cross_entropy_backward(rng):
    logits = normal(rng, pick(rng, 1, 9), pick(rng, 1, 70))
    rows, count = logits.shape
    of_rows = classes(rng, count, rows).astype(np.int32)
    return normal(rng, rows, dtype=np.float32), logits, of_rows, log_sum_exp(logits.astype(float)), -100, 0.1, 1e-3


@arguments("fused_linear_cross_entropy_backward")
def fused_linear_cross_entropy_backward(rng):
    x, weight = normal(rng, pick(rng, 1, 9), pick(rng, 1, 40)), None
    weight = normal(rng, pick(rng, 1, 70), x.shape[1], dtype=x.dtype)
    of_rows = classes(rng, len(weight), len(x)).astype(np.int64)
    lse = log_sum_exp(x.astype(float) @ weight.astype(float).T)
    return normal(rng, len(x), dtype=np.float32), x, weight, of_rows, lse, -100, 0.1, 1e-3


SCORES = None, False, 0, 0.0  # scale, causal, window, soft_cap


def attention_call(rng, batch=None, mask=None):
    """d_context, q, k, v, context and lse; mask(batch, heads, queries, keys, dtype) is added to the scores, and comes last."""
    batch, queries, groups, shared, width = (batch or pick(rng, 1, 5), *(pick(rng, 1, 5) for _ in range(4)))
    keys = pick(rng, 2, 6)  # of one key, the gradients of q and k are zero but for rounding
    q = normal(rng, batch, queries, groups * shared, width)
    k, v = (normal(rng, batch, keys, groups, width, dtype=q.dtype) for _ in range(2))
    added = np.zeros((1, 1, 1, keys), q.dtype) if mask is None else mask(batch, groups * shared, queries, keys, q.dtype)
    wide_k, wide_v = (np.repeat(a.astype(float), shared, 2) for a in (k, v))
    scores = np.einsum("bshd,blhd->bhsl", q.astype(float), wide_k) / math.sqrt(width) + added.astype(float)
    lse = log_sum_exp(scores)
    context = np.einsum("bhsl,blhd->bshd", np.exp(scores - lse[..., None]), wide_v).astype(q.dtype)
    return normal(rng, *q.shape, dtype=q.dtype), q, k, v, context, lse, added


@arguments("attention_backward")
def attention_backward(rng):
    *given, _ = attention_call(rng)
    return *given, None, *SCORES


@arguments("masked_attention_backward")
@arguments("masked_attention_mask_backward")
def masked_attention_backward(rng):
    def mask(*shape_and_dtype):
        *shape, dtype = shape_and_dtype
        shape = [size if pick(rng, 0, 1) else 1 for size in shape[:3]] + shape[3:]
        return normal(rng, *shape, dtype=dtype)

    *given, context, lse, added = attention_call(rng, mask=mask)
    return *given, added, context, lse, *SCORES


@arguments("varlen_attention_backward")
def varlen_attention_backward(rng):
    *given, context, lse, _ = attention_call(rng, batch=1)  # one sequence
    d_context, q, k, v, context = (x[0] for x in (*given, context))
    ends = [np.array([0, len(x)], np.int32) for x in (q, k)]
    return d_context, q, k, v, *ends, context, lse.reshape(len(q), -1), *SCORES


@arguments("attention_sinks_backward")
def attention_sinks_backward(rng):
    d_context, q, _, _, context, lse, _ = attention_call(rng)
    return d_context, context, lse, normal(rng, q.shape[2], dtype=np.float32)


@argument("attention", "lengths")
def lengths_of_keys(draw):
    return draw.rng.integers(0, draw.dims["L"] + 1, draw.shape[0])


@arguments("topk_backward")
def topk_backward(rng):
    x = normal(rng, pick(rng, 1, 9), pick(rng, 1, 70))
    rows, wanted = len(x), pick(rng, 1, x.shape[1])
    indices = np.stack([rng.permutation(x.shape[1])[:wanted] for _ in range(rows)]).astype(np.int32)
    return normal(rng, rows, wanted, dtype=x.dtype), x, indices, wanted


@argument("segment_sum*", "offsets")
def offsets(draw):
    return np.sort(np.append(0, draw.rng.integers(0, draw.dims["N"] + 1, draw.shape[0] - 1)))


@argument("embedding_bag*", "offsets")
def bag_offsets(draw):
    return np.sort(np.append(0, draw.rng.integers(0, draw.dims["N"] + 1, draw.shape[0] - 1)))


@argument("grouped_linear*", "offsets")
def group_offsets(draw):
    return np.sort(np.append(0, draw.rng.integers(0, draw.dims["M"] + 1, draw.shape[0] - 1)))


@arguments("sort_into_groups")
def sort_into_groups(rng):
    count = pick(rng, 1, 9)
    return rng.integers(0, count, pick(rng, 1, 70)), count


@argument("apply_repetition_penalty", "tokens")
def tokens(draw):
    return draw.rng.integers(-1, draw.dims["N"], draw.shape)


@argument("apply_repetition_penalty", "penalty")
def penalty(draw):
    return float(draw.rng.uniform(0.5, 2))


@argument("*norm*", "eps")
def eps(draw):
    """Less than 0 leaves of the variance what rounding is a large part of."""
    return float(draw.rng.choice((0.0, 1e-6, 1e-3, 1.0)))


@argument("*layer_norm_backward", "D")
def columns(draw):
    """Of one column, d_x is zero but for rounding, which a small eps makes larger."""
    return 2 if draw.dims["D"] == 1 else draw.dims["D"]


@argument("group_norm*", "groups")
def groups(draw):
    """So that a group has two elements at least, where there are as many: of one, d_x is zero but for rounding."""
    channels = max(1, draw.dims["C"])
    return int(draw.rng.choice([n for n in range(1, channels + 1) if channels % n == 0 and (n < channels or n == 1)]))


@argument("masked_attention", "H")
def heads(draw):
    return max(1, draw.dims["G"]) * pick(draw.rng, 1, 3)


@argument("masked_attention", "X")
@argument("masked_attention", "Y")
@argument("masked_attention", "Z")
def broadcast(draw):
    return (pick(draw.rng, 0, 1) and draw.dims[{"X": "B", "Y": "H", "Z": "S"}[draw.name]]) or 1


@argument("varlen_attention", "C")
def ends(draw):
    return pick(draw.rng, 2, 6)


@argument("varlen_attention", "cu_queries")
@argument("varlen_attention", "cu_keys")
def cumulative_lengths(draw):
    rows = draw.dims["N" if draw.name == "cu_queries" else "L"]
    return [0, *np.sort(draw.rng.integers(0, rows + 1, draw.shape[0] - 2)), rows]


class Pages:
    """Where the tokens of each item lie: no two items share a page."""

    def __init__(self, rng):
        self.batch, self.added, self.rows, self.groups, self.width = (pick(rng, 1, 5) for _ in range(5))
        of_item = -(-self.added // self.rows) + pick(rng, 0, 2)
        self.count = self.batch * of_item + pick(rng, 0, 3)
        entries = rng.permutation(self.count)[: self.batch * of_item].astype(np.int32)
        self.table = entries.reshape(self.batch, of_item)
        self.lengths = rng.integers(self.added, of_item * self.rows + 1, self.batch).astype(np.int32)

    @property
    def shape(self):
        return self.count, self.rows, self.groups, self.width


@arguments("paged_attention")
def paged_attention(rng):
    pages = Pages(rng)
    q = normal(rng, pages.batch, pages.added, pages.groups * pick(rng, 1, 3), pages.width)
    if pick(rng, 0, 1):
        caches = [rng.integers(-127, 128, pages.shape).astype(np.int8) for _ in "kv"]
        scales = [rng.uniform(0.01, 0.1, pages.shape[:3]).astype(np.float32) for _ in "kv"]
    else:
        dtype = FLOATS[pick(rng, 0, 2)]
        caches, scales = [normal(rng, *pages.shape, dtype=dtype) for _ in "kv"], [None, None]
    sinks = normal(rng, q.shape[2]) if pick(rng, 0, 1) else None
    return q, *caches, pages.table, pages.lengths, *scales, sinks, None, pick(rng, 0, 3), float(pick(rng, 0, 1))


@arguments("paged_store")
def paged_store(rng):
    pages = Pages(rng)
    x = normal(rng, pages.batch, pages.added, pages.groups, pages.width)
    return normal(rng, *pages.shape), x, pages.table, pages.lengths


@arguments("paged_quantize")
def paged_quantize(rng):
    pages = Pages(rng)
    x = normal(rng, pages.batch, pages.added, pages.groups, pages.width)
    cache = np.zeros(pages.shape, np.int8)
    return cache, np.zeros(pages.shape[:3], np.float32), x, pages.table, pages.lengths


def packed(rng, rows, columns):
    """Weights packed in some format; columns: a multiple of 32."""
    name = str(rng.choice([*LINEAR_PACKS, "pack_int4", "pack_int8"]))
    if name in LINEAR_PACKS:
        blocks = rng.integers(0, 256, (rows, columns // 32, LINEAR_PACKS[name])).astype(np.uint8)
        halves = rng.uniform(-0.1, 0.1, (rows, columns // 32, 2 if name == "pack_q4_1" else 1)).astype(np.float16)
        blocks[..., : 2 * halves.shape[-1]] = halves.view(np.uint8)
        return getattr(kernels, name)(blocks.reshape(rows, -1))
    values = rng.integers(-8, 8, (rows, columns)).astype(np.int8)
    return getattr(kernels, name)(values, rng.uniform(0.01, 0.1, (rows, 1)).astype(np.float32))


@arguments("packed_linear")
def packed_linear(rng):
    rows, columns = pick(rng, 1, 70), 32 * pick(rng, 1, 3)
    x = normal(rng, pick(rng, 1, 9), columns)
    if pick(rng, 0, 1):
        weight = kernels.pack_linear(normal(rng, rows, columns, dtype=x.dtype))
        compute = "auto"
    else:
        # "auto" is what a processor does best: others round x otherwise.
        weight, compute = packed(rng, rows, columns), str(rng.choice(["i8", "i16", "bf16", "f32"]))
    bias = normal(rng, rows, dtype=x.dtype) if pick(rng, 0, 1) else None
    residual = normal(rng, len(x), rows, dtype=x.dtype) if pick(rng, 0, 1) else None
    return x, weight, bias, residual, compute, str(rng.choice(["none", "relu", "silu", "gelu", "gelu_tanh"]))


@arguments("packed_embedding")
def packed_embedding(rng):
    rows, columns = pick(rng, 1, 40), 32 * pick(rng, 1, 3)
    weight = kernels.pack_linear(normal(rng, rows, columns)) if pick(rng, 0, 1) else packed(rng, rows, columns)
    return weight, rng.integers(0, rows, pick(rng, 1, 9)).astype(np.int32), columns


@argument("sgd", "momentum")
def momentum(draw):
    return 0.5  # without it nesterov has no effect
