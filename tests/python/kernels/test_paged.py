"""Attention beside a cache in pages against float64: every dtype of cache, pages of any size, and what points where it must not."""

import numpy as np
import pytest
import torch
from arrays import get_values, make
from test_attention import reference

TOLERANCE = {"f32": 3e-6, "f16": 3e-3, "bf16": 2e-2}
CACHES = ("f32", "f16", "bf16", "i8")
# batch, queries, heads, groups, width, rows of a page, lengths: few rows (12) and many, chunks of 128 keys, spans of 512.
SHAPES = (
    (1, 1, 1, 1, 1, 1, (1,)),
    (2, 1, 9, 3, 64, 16, (130, 1)),
    (3, 2, 4, 2, 20, 7, (9, 2, 700)),
    (2, 70, 6, 3, 32, 64, (70, 200)),
    (1, 1, 9, 3, 64, 2048, (1100,)),
    (2, 5, 6, 1, 80, 33, (5, 600)),
    (1, 3, 26, 2, 100, 512, (520,)),
)


def as_tensor(values, dtype):
    return torch.as_tensor(get_values(make(values, dtype)[0])).to(
        getattr(torch, {"f32": "float32", "f16": "float16"}.get(dtype, "bfloat16"))
    )


class Paged:
    """A cache that has been filled token by token through the ops, and the float64 values that it holds."""

    def __init__(self, k, shape, cache, dtype="f32", seed=0):
        self.k, (batch, queries, heads, groups, width, page, lengths) = k, shape
        rng = np.random.default_rng(seed)
        per_item = -(-max(lengths) // page)
        pages = batch * per_item + 2
        self.table = torch.from_numpy(
            rng.permutation(pages)[: batch * per_item].reshape(batch, per_item).astype(np.int32)
        )
        self.lengths = torch.tensor(lengths, dtype=torch.int32)
        stored = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8}[cache]
        self.caches = [torch.zeros(pages, page, groups, width, dtype=stored) for _ in "kv"]
        self.scales = [torch.zeros(pages, page, groups) for _ in "kv"] if cache == "i8" else []
        self.q = as_tensor(rng.normal(size=(batch, queries, heads, width)), dtype)
        self.x = [as_tensor(rng.normal(size=(batch, max(lengths), groups, width)), dtype) for _ in "kv"]
        for b, length in enumerate(lengths):  # in two steps, of which the second may begin within a page
            for begin, end in ((0, length // 2), (length // 2, length)):
                self.store(b, begin, end)

    def store(self, b, begin, end):
        where = self.table[b : b + 1], torch.tensor([end], dtype=torch.int32)
        for i, cache in enumerate(self.caches):
            new = self.x[i][b : b + 1, begin:end]
            if self.scales:
                self.k.paged_quantize(cache, self.scales[i], new, *where)
            else:
                self.k.paged_store(cache, new, *where)

    def __call__(self, **options):
        return self.k.paged_attention(self.q, *self.caches, self.table, self.lengths, *self.scales, **options)

    def held(self, i, b):
        """The keys or values of item b in float64, from its pages."""
        pages = self.caches[i].double()[self.table[b].long()]
        if self.scales:
            pages = pages * self.scales[i].double()[self.table[b].long()][..., None]
        return pages.flatten(0, 1)[: self.lengths[b]].numpy()

    def expected(self, **options):
        return np.stack(
            [
                reference(
                    self.q[b : b + 1].double().numpy(), self.held(0, b)[None], self.held(1, b)[None], True, **options
                )[0]
                for b in range(len(self.lengths))
            ]
        )


@pytest.mark.parametrize("options", [{}, {"window": 7}, {"soft_cap": 2.0, "scale": 0.3}])
@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_the_reference_at_every_shape(k, shape, cache, options):
    paged = Paged(k, shape, cache)
    np.testing.assert_allclose(paged(**options).numpy(), paged.expected(**options), rtol=0, atol=TOLERANCE["f32"])


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("cache", CACHES)
def test_agrees_with_the_reference_in_every_dtype(k, cache, dtype):
    paged = Paged(k, SHAPES[2], cache, dtype)
    found = paged()
    assert found.dtype == paged.q.dtype
    np.testing.assert_allclose(found.double().numpy(), paged.expected(), rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("cache", CACHES)
def test_what_is_stored(k, cache):
    paged = Paged(k, SHAPES[2], cache)
    step = {"f32": 0, "f16": 2**-11, "bf16": 2**-8, "i8": 0.5 / 127}[cache]
    for i in range(2):
        for b, length in enumerate(paged.lengths):
            x = paged.x[i][b, :length].double().numpy()
            largest = np.abs(x).max(-1, keepdims=True) if cache == "i8" else np.abs(x)
            assert (np.abs(paged.held(i, b) - x) <= step * largest * 1.001).all()
    used = torch.zeros(len(paged.caches[0]), paged.caches[0].shape[1], dtype=torch.bool)
    for b, length in enumerate(paged.lengths):
        for at in range(length):
            used[paged.table[b, at // used.shape[1]], at % used.shape[1]] = True
    assert (paged.caches[0][~used] == 0).all(), "other rows were written"


def test_contiguous_caches_are_one_page(k):
    """A cache [1, capacity, groups, width] and a table of one entry; views of a larger one."""
    rng = np.random.default_rng(0)
    whole = np.zeros((4, 1, 300, 2, 32), np.float16)
    q, x = rng.normal(size=(1, 1, 4, 32)).astype(np.float32), rng.normal(size=(2, 1, 200, 2, 32)).astype(np.float32)
    table, lengths = np.zeros((1, 1), np.int32), np.array([200], np.int32)
    for i in range(2):
        k.paged_store(whole[1 + i], x[i], table, lengths)
    found = k.paged_attention(q, whole[1], whole[2], table, lengths)
    wide = whole.astype(np.float64)
    np.testing.assert_allclose(found, reference(q.astype(np.float64), wide[1, :, :200], wide[2, :, :200]), atol=3e-6)
    assert (whole[[0, 3]] == 0).all()


@pytest.mark.parametrize("shape", [SHAPES[2], SHAPES[5]])
def test_a_soft_cap_that_changes_nothing_gives_what_none_gives(k, shape):
    paged = Paged(k, shape, "f32")
    for soft_cap in (1e4, 1e9, 1e300):
        found = paged(soft_cap=soft_cap)
        np.testing.assert_allclose(found, paged.expected(), rtol=0, atol=TOLERANCE["f32"], err_msg=str(soft_cap))


def test_an_item_does_not_depend_on_the_batch(k):
    paged = Paged(k, (3, 1, 9, 3, 64, 16, (1300, 40, 600)), "bf16", "bf16")
    whole = paged()
    for b in range(3):
        alone = k.paged_attention(paged.q[b : b + 1], *paged.caches, paged.table[b : b + 1], paged.lengths[b : b + 1])
        assert torch.equal(alone[0], whole[b])


def test_the_same_bits_on_any_number_of_threads(k):
    before, found = torch.get_num_threads(), {}
    try:
        for threads in (1, 2, 3, 4):
            torch.set_num_threads(threads)
            for shape in ((2, 1, 9, 3, 64, 64, (3000, 100)), SHAPES[3]):
                bits = Paged(k, shape, "i8")().numpy().tobytes()
                assert bits == found.setdefault(shape, bits), f"{threads} threads"
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("cache", CACHES)
def test_nan_in_a_key_reaches_those_who_see_it(k, cache, bad):
    paged = Paged(k, (2, 1, 4, 2, 16, 8, (20, 20)), cache)
    clean = paged()
    paged.x[0][0, 3, 1, 5] = bad
    paged.store(0, 0, 20)
    found = paged()
    assert not np.isfinite(found[0, 0, 2:].numpy()).all()
    assert torch.equal(found[1], clean[1])
    assert torch.equal(found[0, 0, :2], clean[0, 0, :2])


def test_caches_tables_and_scales_that_do_not_fit_are_refused(k):
    paged = Paged(k, SHAPES[2], "i8")
    caches, scales = paged.caches, paged.scales

    def call(table=paged.table, lengths=paged.lengths, scales=scales):
        return k.paged_attention(paged.q, *caches, table, lengths, *scales)

    with pytest.raises(ValueError, match="k_scales: expected the scales of a cache of i8, got none"):
        call(scales=())
    with pytest.raises(ValueError, match="v_scales: expected none beside a cache that isn't i8"):
        k.paged_attention(paged.q, *(c.float() for c in caches), paged.table, paged.lengths, None, scales[1])
    with pytest.raises(
        ValueError, match=r"lengths: expected 2 \(the new tokens\) to 700 \(the rows of 100 pages\), got 1 for item 1"
    ):
        call(lengths=torch.tensor([9, 1, 700], dtype=torch.int32))
    with pytest.raises(ValueError, match="got 701 for item 2"):
        call(lengths=torch.tensor([9, 2, 701], dtype=torch.int32))
    pages = len(caches[0])
    for entry in (pages, -1):
        table = paged.table.clone()
        table[2, 3] = entry
        with pytest.raises(IndexError, match=rf"block_table: \[2, 3\] is {entry}, but the cache has {pages} pages"):
            call(table)
        with pytest.raises(IndexError, match=rf"paged_quantize: block_table: \[2, 3\] is {entry}"):
            k.paged_quantize(caches[0], scales[0], paged.x[0], table, paged.lengths.clamp(min=700))
    table = paged.table.clone()
    table[0, 50] = -1  # beyond what the item has
    assert torch.equal(call(table), call())
    with pytest.raises(ValueError, match="soft_cap: expected a positive number, or 0 for none, got -1"):
        k.paged_attention(paged.q, *caches, paged.table, paged.lengths, *scales, soft_cap=-1.0)
