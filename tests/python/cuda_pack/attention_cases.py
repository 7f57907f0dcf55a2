"""Run by test_cuda_attention.py in processes of their own, with an emulated device: attention on it against float64.

`attention_cases.py FILES GROUP[:DTYPE]...`: prints how many cases of each group agree, or ends with the first that doesn't.
"""

import ctypes
import re

import kernpack
import numpy as np
import pytest
from arrays import make
from on_device import EMULATED, K, View, only, run, to_device, to_host
from reference import attention
from support import host
from test_attention_masks import make_mask, masked

TOLERANCE = {"f32": 3e-6, "f16": 3e-3, "bf16": 2e-2}

# batch, queries, heads, keys, groups, width: blocks are 64 rows (a query's heads of a group) by 64 keys.
BORDERS = (
    (1, 1, 1, 1, 1, 64),
    (2, 5, 4, 9, 2, 32),
    (1, 64, 1, 64, 1, 64),
    (1, 65, 2, 129, 1, 64),
    (1, 22, 3, 63, 1, 128),
    (1, 70, 2, 5, 2, 64),  # queries without keys where it is causal
    (3, 2, 6, 130, 2, 128),
    (1, 3, 2, 70, 1, 80),
    (1, 140, 1, 150, 1, 128),  # more rows than a block has
    (1, 70, 2, 70, 1, 32),
)
OPTIONS = (
    {},
    {"causal": True},
    {"causal": True, "window": 7},
    {"window": 3},
    {"soft_cap": 2.0, "scale": 0.3},
    {"scale": -0.5},
    {"scale": 0.0, "causal": True},
)


def inputs(shape, dtype, seed=0):
    """q, k and v on the host, and the float64 values that they hold."""
    b, s, h, n, g, d = shape
    rng = np.random.default_rng(seed)
    pairs = [make(rng.normal(size=size), dtype) for size in ((b, s, h, d), (b, n, g, d), (b, n, g, d))]
    return [p[0] for p in pairs], [p[1] for p in pairs]


def check(name, found, expected, dtype):
    tolerance = TOLERANCE[dtype] * max(1, np.abs(expected).max(initial=0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance, err_msg=name)


def borders(dtype):
    """Lengths of 1 and around the blocks' sizes, more keys than queries and fewer, groups of heads."""
    for shape in BORDERS:
        given, wide = inputs(shape, dtype)
        given = [to_device(x) for x in given]
        for options in OPTIONS:
            check(f"{shape} {options}", to_host(K.attention(*given, **options)), attention(*wide, **options), dtype)
            yield


def lengths(dtype, queries=3):
    """Keys beyond a length aren't read: they hold NaN here. An item whose length there can't be is NaN, as the device alone knows it."""
    given, wide = inputs((4, queries, 4, 140, 2, 64), dtype)
    given[1][3, 130:] = float("nan")
    given[2][3, 130:] = float("nan")
    device = [to_device(x) for x in given]
    for numbers in ([140, 1, 0, 130], [900, 1, -4, 130]):
        of_device = to_device(np.array(numbers, np.int32))
        for causal in (False, True):
            found = to_host(K.attention(*device, of_device, causal=causal))
            wide[1:] = [np.nan_to_num(x) for x in wide[1:]]
            expected = attention(*wide, causal=causal, lengths=np.clip(numbers, 0, 140))
            valid = [0 <= number <= 140 for number in numbers]
            check(f"{numbers} {causal}", found[valid], expected[valid], dtype)
            assert np.isnan(found[np.logical_not(valid)]).all(), "an item of a length that there can't be"
            assert not valid[2] or (found[2] == 0).all(), "an item without keys"
            yield


def sinks(dtype):
    """A score of each head without a value: beside keys, a mask, pages, and without keys; -inf is none."""
    for shape in (BORDERS[1], BORDERS[3], BORDERS[5], BORDERS[6], BORDERS[8], (1, 9, 2, 40, 1, 200)):
        given, wide = inputs(shape, dtype)
        device = [to_device(x) for x in given]
        of_heads = np.random.default_rng(4).normal(size=shape[2]).astype(np.float32) * 3
        of_heads[0] = -np.inf
        for options in ({}, {"causal": True}, {"soft_cap": 2.0}):
            found = to_host(K.attention(*device, None, to_device(of_heads), **options))
            check(f"{shape} {options}", found, attention(*wide, sinks=of_heads, **options), dtype)
            yield
        mask, of_mask = make_mask("f32", (1, 1, shape[1], shape[3]))
        found = to_host(K.masked_attention(*device, to_device(mask), to_device(of_heads)))
        check(f"{shape} with a mask", found, masked(*wide, of_mask, sinks=of_heads), dtype)
        yield
    for shape in (PAGED[1], PAGED[2], PAGED[5]):
        of = Cache(shape, dtype)
        q, wide = make(np.random.default_rng(3).normal(size=(len(of.lengths), shape[0], shape[1], shape[3])), dtype)
        of_heads = np.random.default_rng(4).normal(size=shape[1]).astype(np.float32) * 3
        found = of(q, sinks=to_device(of_heads))
        check(f"{shape} beside pages", found, of.expected(wide, sinks=of_heads), dtype)
        yield


def soft_caps(dtype):
    """So large that they change nothing."""
    given, wide = inputs(BORDERS[1], dtype)
    device = [to_device(x) for x in given]
    for soft_cap in (1e4, 1e9, 1e38, 1e300, np.inf):
        found = to_host(K.attention(*device, soft_cap=soft_cap))
        check(f"soft_cap {soft_cap}", found, attention(*wide), dtype)
        yield


def views(dtype, positions, steps):
    """q, k and v as views of one tensor: each (step, begin) of `steps` takes every step-th element of a head from `begin` on."""
    qkv, wide = make(np.random.default_rng(1).normal(size=(2, positions, 8, 64)), dtype)
    device = to_device(qkv)
    for step, begin in steps:
        parts, values = [], []
        for first, last in ((0, 4), (4, 6), (6, 8)):
            values.append(wide[:, :, first:last, begin::step])
            strides = (positions * 8 * 64, 8 * 64, 64, step)
            parts.append(View(device, values[-1].shape, strides, first * 64 + begin, dtype))
        found = to_host(K.attention(*(kernpack.from_dlpack(part) for part in parts), causal=True))
        check(f"step {step} from {begin}", found, attention(*values, causal=True), dtype)
        yield


def layouts(dtype):
    """Views of one tensor, every second element, addresses that aren't whole vectors, odd widths, wide heads."""
    options = {"causal": True}
    yield from views(dtype, 9, ((1, 0), (2, 0), (1, 3)))
    for width in (1, 20, 72, 200, 256):
        given, values = inputs((1, 9, 2, 40, 1, width), dtype)
        found = to_host(K.attention(*(to_device(x) for x in given), **options))
        check(f"width {width}", found, attention(*values, **options), dtype)
        yield


def masks(dtype):
    shape = (2, 9, 4, 70, 2, 64)
    given, wide = inputs(shape, dtype)
    device = [to_device(x) for x in given]
    for kind in ("bool", "f32", "f16", "bf16"):
        for mask_shape in ((2, 4, 9, 70), (1, 1, 9, 70), (2, 1, 1, 70)):
            mask, of_mask = make_mask(kind, mask_shape)
            for options in ({}, {"causal": True}, {"soft_cap": 2.0}):
                found = to_host(K.masked_attention(*device, to_device(mask), **options))
                check(f"{kind} {mask_shape} {options}", found, masked(*wide, of_mask, **options), dtype)
                yield


def empty(dtype):
    """No key, no query, no item, and a mask that keeps no key: zeros, of the right shape."""
    for shape in ((1, 3, 2, 0, 1, 64), (2, 0, 2, 5, 1, 64), (0, 3, 2, 5, 1, 64), (1, 3, 2, 70, 1, 64)):
        given = [to_device(x) for x in inputs(shape, dtype)[0]]
        mask = to_device(np.zeros((1, 1, 1, shape[3]), bool))
        calls = [K.masked_attention(*given, mask)]
        if shape[3] != 70:
            calls.append(K.attention(*given))
        for found in calls:
            np.testing.assert_array_equal(to_host(found), np.zeros((*shape[:3], shape[5])))
            yield


def sums(dtype):
    """The second result, which is saved for the gradient: the logarithm of the sum of exp(score), +inf without keys."""
    function = ctypes.c_void_p(K.attention.__self__.handle)
    for shape in ((2, 70, 4, 65, 2, 64), (1, 3, 2, 9, 2, 20)):
        given, (q, k, v) = inputs(shape, dtype)
        batch, queries, heads = shape[:3]
        context = kernpack.empty((batch, queries, heads, shape[5]), dtype, "cuda:0")
        found = kernpack.empty((batch, heads, queries), "f32", "cuda:0")
        tensors = [View(x, x.shape, x.strides, 0, str(x.dtype)) for x in (*map(to_device, given), context, found)]
        pointers = [host.Any(7, 0, ctypes.addressof(x.tensor)) for x in tensors]  # a DLTensor*
        none, causal, zero = host.Any(), host.Any(2, 0, 1), host.Any(3, 0, 0)
        values = (*pointers[:3], none, none, none, causal, host.integer(0), zero, *pointers[3:])
        array, result = (host.Any * len(values))(*values), host.Any()
        host.check(host.lib().kp_call(function, array, len(values), ctypes.byref(result)))
        scores = np.einsum("bshd,blhd->bhsl", q, np.repeat(k, heads // shape[4], 2)) * shape[5] ** -0.5
        seen = np.arange(shape[3]) <= np.arange(queries)[:, None] + shape[3] - queries
        with np.errstate(divide="ignore"):
            expected = np.log(np.where(seen, np.exp(scores), 0).sum(-1))
        expected[np.isinf(expected)] = np.inf
        np.testing.assert_allclose(to_host(found), expected, rtol=0, atol=1e-5)
        check(f"{shape}", to_host(context), attention(q, k, v, True), dtype)
        yield


# As BORDERS, for the kernel of sm_90: blocks are 128 rows, of which two groups have 64 each, by 128 keys, in two stages.
SM90 = (
    (1, 65, 1, 1, 1, 64),
    (2, 70, 4, 129, 2, 64),
    (1, 128, 1, 128, 1, 128),
    (1, 129, 1, 520, 1, 64),  # more tiles than stages, twice around
    (1, 43, 3, 300, 1, 128),  # three heads of a query, which no tile divides
    (1, 100, 2, 90, 2, 128),  # queries without keys where it is causal
    (2, 66, 2, 260, 2, 80),
    (1, 200, 1, 40, 1, 40),
)


def sm90(dtype):
    """The kernel for sm_90 runs and no other: its borders, sinks, lengths, and views of one tensor."""
    for at, shape in enumerate(SM90):
        given, wide = inputs(shape, dtype)
        device = [to_device(x) for x in given]
        of_heads = np.random.default_rng(4).normal(size=shape[2]).astype(np.float32) * 3
        with only(f"attention_sm90_{dtype}_{64 if shape[5] <= 64 else 128}"):
            for options in ({}, {"causal": True}, {"causal": True, "window": 7}, {"window": 150}):
                check(
                    f"{shape} {options}", to_host(K.attention(*device, **options)), attention(*wide, **options), dtype
                )
                yield
            options = {"causal": at % 2 == 0, "scale": 0.3}
            found = to_host(K.attention(*device, None, to_device(of_heads), **options))
            check(f"{shape} with sinks", found, attention(*wide, sinks=of_heads, **options), dtype)
            yield
    with only(f"attention_sm90_{dtype}_64"):
        yield from lengths(dtype, queries=40)
        yield from views(dtype, 70, ((1, 0),))


def left_to_mma(dtype):
    """Calls and devices that the kernel for sm_90 isn't for run the other kernels, also where it is chosen."""
    given, wide = inputs(SM90[1], dtype)
    for options in ({"soft_cap": 2.0}, {"scale": -0.5}):
        with only(f"attention_{dtype}_64"):
            found = to_host(K.attention(*map(to_device, given), **options))
        check(f"{options}", found, attention(*wide, **options), dtype)
        yield
    with only(f"attention_{dtype}_64"):  # few rows
        found = to_host(K.attention(*map(to_device, (given[0][:, :9], *given[1:]))))
    check("few rows", found, attention(wide[0][:, :9], *wide[1:]), dtype)
    yield
    older = kernpack.device("cuda", 1 if EMULATED else 0)  # sm_80
    with only(f"attention_plain_{dtype}_64"):
        found = to_host(K.attention(*(kernpack.from_dlpack(x).to(older) for x in given)))
    check("sm_80", found, attention(*wide), dtype)
    yield


# queries, heads, groups, width, rows of a page, lengths: blocks are four rows (a query's heads of a group), parts 256 keys or more.
PAGED = (
    (1, 1, 1, 64, 16, (1, 16, 17)),
    (1, 9, 3, 64, 16, (130, 1)),
    (1, 8, 1, 128, 7, (300, 14, 1)),
    (2, 4, 2, 20, 7, (9, 2, 41)),
    (1, 2, 2, 32, 256, (1100,)),
    (5, 6, 2, 80, 33, (5, 60)),
    (1, 2, 1, 256, 8, (9,)),
)


class Cache:
    """Keys and values in pages of a random order, whose free rows hold NaN, and the float64 values of its items."""

    def __init__(self, shape, dtype, seed=0):
        _, _, groups, width, page, lengths = shape
        rng = np.random.default_rng(seed)
        per_item = -(-max(lengths) // page)
        pages = len(lengths) * per_item + 1
        self.table = rng.permutation(pages)[: pages - 1].reshape(-1, per_item).astype(np.int32)
        self.lengths = np.array(lengths, np.int32)
        self.caches, self.held, self.scales = [], [], []
        for _ in "kv":
            values = rng.normal(size=(pages, page, groups, width))
            if dtype == "i8":
                stored = np.clip(np.rint(values * 40), -127, 127).astype(np.int8)
                scale = rng.random((pages, page, groups)).astype(np.float32) / 40
                self.scales.append(to_device(scale))
                held = stored * scale[..., None].astype(np.float64)
            else:
                values[~self._used(pages, page)] = np.nan
                stored, held = make(values, dtype)
            self.caches.append(to_device(stored))
            self.held.append(held)

    def _used(self, pages, page):
        used = np.zeros((pages, page), bool)
        for table, length in zip(self.table, self.lengths, strict=True):
            for at in range(length):
                used[table[at // page], at % page] = True
        return used

    def __call__(self, q, **options):
        pointers = to_device(self.table), to_device(self.lengths)
        return to_host(K.paged_attention(to_device(q), *self.caches, *pointers, *self.scales, **options))

    def expected(self, q, **options):
        items = []
        for b, length in enumerate(self.lengths):
            k, v = (x[self.table[b]].reshape(1, -1, *x.shape[2:])[:, :length] for x in self.held)
            items.append(attention(q[b : b + 1], k, v, True, **options))
        return np.concatenate(items)


def paged(cache):
    for shape in PAGED:
        of = Cache(shape, cache)
        queries, heads, _, width = shape[:4]
        for dtype in ("f32", "f16", "bf16"):
            q, wide = make(np.random.default_rng(3).normal(size=(len(of.lengths), queries, heads, width)), dtype)
            for options in ({}, {"window": 7}, {"soft_cap": 2.0, "scale": 0.3}):
                check(f"{shape} {dtype} {options}", of(q, **options), of.expected(wide, **options), dtype)
                yield


def alone(cache):
    """An item gives the same bits alone as in a batch with longer ones."""
    of = Cache((1, 4, 2, 64, 16, (300, 1, 700)), cache)
    q = np.random.default_rng(3).normal(size=(3, 1, 4, 64)).astype(np.float32)
    together = of(q)
    of.table, of.lengths = np.ascontiguousarray(of.table[:1, :19]), of.lengths[:1]
    np.testing.assert_array_equal(of(q[:1]), together[:1])
    yield


def outside(cache):
    """Lengths and pages that don't exist: nothing outside is read, the item is NaN, the others are right."""
    shape = PAGED[1]
    q, wide = make(np.random.default_rng(3).normal(size=(2, 1, 9, 64)), "f32")
    for what in ("entry", "negative entry", "length", "no length"):
        of = Cache(shape, cache)
        expected = of.expected(wide)
        if what.endswith("entry"):
            of.table[0, 3] = -1 if what.startswith("negative") else 1 << 20
        else:
            of.lengths[0] = 145 if what == "length" else 0
        found = of(q)
        assert np.isnan(found[0]).all(), what
        check(what, found[1], expected[1], "f32")
        yield


def both():
    """Arguments on the host and on the device: each call runs where they are."""
    given, _ = inputs((1, 5, 2, 9, 2, 64), "f32")
    on_host = K.attention(*given, causal=True)
    assert isinstance(on_host, np.ndarray)
    on_device = K.attention(*map(to_device, given), causal=True)
    assert on_device.device.type == "cuda"
    check("both", to_host(on_device), on_host, "f32")
    yield


def refusals():
    """Refused calls and their errors."""
    q = to_device(np.zeros((1, 1, 1, 257), np.float32))
    small = to_device(np.zeros((1, 1, 1, 8), np.float32))
    for call, text in (
        (lambda: K.attention(q, q, q), "q: expected heads of 1 to 256 elements on a CUDA device, got 257"),
        (
            lambda: K.attention(small, small, small, soft_cap=-1.0),
            "soft_cap: expected a positive number, or 0 for none",
        ),
        (
            lambda: K.masked_attention(small, small, small, to_device(np.zeros((3, 1, 1, 1), np.float32))),
            "mask: expected 1 or 1 in dimension 0, the batch, got 3",
        ),
        (
            lambda: K.paged_attention(
                small,
                *[to_device(np.zeros((1, 1, 1, 8), np.int8))] * 2,
                to_device(np.zeros((1, 1), np.int32)),
                to_device(np.ones(1, np.int32)),
            ),
            "k_scales: expected the scales of a cache of i8, got none",
        ),
    ):
        with pytest.raises(ValueError, match=re.escape(text)):
            call()
        yield


def no_such_kernel():
    """An error of the variable that chooses a kernel."""
    small = to_device(np.zeros((1, 1, 1, 8), np.float32))
    text = "attention: expected the variable KERNPACK_CUDA_ATTENTION to be 'mma' or 'wgmma', got 'fast'"
    with pytest.raises(ValueError, match=re.escape(text)):
        K.attention(small, small, small)
    yield


run(globals())
