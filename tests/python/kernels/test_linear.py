"""Packed weights against the gguf package's own dequantisation, and their products against float64."""

import numpy as np
import pytest
import torch
from arrays import get_values, make
from support.ggml_blocks import BLOCK_BYTES, BLOCK_COLUMNS, FORMATS, HALVES, random_blocks

pytest.importorskip("gguf", reason="gguf is not installed")
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize

# Root mean square error in parts of sum |x| |w| / sqrt(K), what rounding x and w to so many bits gives.
ERROR = {"i8": 8e-3, "i16": 6e-5, "bf16": 6e-3, "f32": 1e-6}
# Rows, and columns in parts of a block: borders of groups of 16, panels of 64 rows and of 512 columns.
SHAPES = ((3, 1), (16, 2), (37, 3), (130, 34))


def count_columns(form, blocks):
    return blocks * 32 if BLOCK_COLUMNS[form] == 32 else min(blocks, 4) * 256


def unpack_blocks(weight, form):
    return quantize(np.asarray(weight, np.float32), GGMLQuantizationType[form.upper()])


def pack(k, blocks, form):
    return getattr(k, f"pack_{form}")(blocks)


def values(blocks, form):
    return dequantize(blocks, GGMLQuantizationType[form.upper()]).astype(np.float64)


def weights(k, form, n, columns, seed=0):
    rng = np.random.default_rng(seed)
    blocks = random_blocks(rng, form, n, columns) if "k" in form else unpack_blocks(rng.normal(size=(n, columns)), form)
    return pack(k, blocks, form), values(blocks, form)


def assert_product(found, x, w, compute):
    error = get_values(found) - x @ w.T
    size = np.sqrt((np.square(x) @ np.square(w).T).mean())
    # Rows of weights whose mean isn't zero multiply what x was rounded by alike, and such errors don't average out.
    slack = (2 if error.size < 100 else 1) + 2 * np.sqrt(np.square(w.mean(1)).mean()) / w.std()
    assert np.sqrt(np.square(error).mean()) < ERROR[compute] * size * slack


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_unpacked_is_what_gguf_says(k, form, shape):
    columns = count_columns(form, shape[1])
    packed, w = weights(k, form, shape[0], columns)
    rows = np.arange(shape[0])[::-1].copy()
    np.testing.assert_array_equal(k.packed_embedding(packed, rows, columns=columns), w[rows].astype(np.float32))


@pytest.mark.parametrize("form", FORMATS)
def test_every_byte_is_unpacked(k, form):
    """Bytes at random, scales included where they are finite."""
    size, columns = BLOCK_BYTES[form], 4 * BLOCK_COLUMNS[form]
    blocks = np.random.default_rng(3).integers(0, 256, (48, 4 * size)).astype(np.uint8)
    for block in range(4):  # exponents that a half can hold beside a factor of 128
        for at in HALVES[form]:
            blocks[:, block * size + at + 1] &= 0x9F
    packed, w = pack(k, blocks, form), values(blocks, form)
    found = k.packed_embedding(packed, np.arange(48), columns=columns)
    np.testing.assert_allclose(found, w, rtol=1e-6, atol=1e-30)


@pytest.mark.parametrize("compute", ERROR)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_products_agree_with_the_unpacked_weights(k, form, shape, compute):
    columns = count_columns(form, shape[1])
    packed, w = weights(k, form, shape[0], columns)
    for rows in (1, 2, 3, 5, 6, 7, 12, 64, 257):
        x = np.random.default_rng(rows).normal(size=(rows, columns)).astype(np.float32)
        assert_product(k.packed_linear(x, packed, compute=compute), x.astype(np.float64), w, compute)


@pytest.mark.parametrize("compute", ["i8", "i16"])
@pytest.mark.parametrize("form", FORMATS)
def test_the_largest_integers_add_up(k, form, compute):
    """Values with every bit set times activations of the largest size, of one sign and of both: sums of 16 bits are full."""
    size, columns = BLOCK_BYTES[form], 2 * BLOCK_COLUMNS[form]
    rng = np.random.default_rng(4)
    blocks = np.where(rng.integers(0, 2, (32, 2 * size)), 255, 0).astype(np.uint8)
    blocks[:2] = 255
    for block in range(2):
        for at in HALVES[form]:
            blocks[:, block * size + at] = 0
            blocks[:, block * size + at + 1] = 0x3C  # together 1
    packed, w = pack(k, blocks, form), values(blocks, form)
    x = np.where(rng.integers(0, 2, (6, columns)), 1.0, -1.0)
    x[0], x[1] = 1, -1
    x[3:] *= np.where(np.arange(columns) % 32, 1 - 0.5 / 127, 1)  # in two bytes, the second is the largest
    found = k.packed_linear(x.astype(np.float32), packed, compute=compute)
    largest = {"i8": 127, "i16": 127 * 128}[compute]
    expected = np.rint(x.astype(np.float32) * np.float32(largest)) / largest @ w.T
    # A sum that doesn't fit would be wrong by 2^16 steps, 4 or more; what is rounded is bytes moved by 128.
    assert np.abs(get_values(found) - expected).max() <= 1e-6 * (np.abs(x) @ (np.abs(w) + 128).T).max()


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("compute", ERROR)
@pytest.mark.parametrize("rows", [1, 9])
def test_bias_and_residual(k, dtype, compute, rows):
    rng = np.random.default_rng(1)
    packed, w = weights(k, "q4_1", 70, 64)
    (x, x64), (bias, b64) = make(rng.normal(size=(rows, 64)), dtype), make(rng.normal(size=70), dtype)
    residual, r64 = make(rng.normal(size=(rows, 70)), dtype)
    if dtype == "bf16":
        packed = torch.from_numpy(packed)
    found = get_values(k.packed_linear(x, packed, bias, residual, compute=compute))
    assert found.shape == (rows, 70)
    np.testing.assert_allclose(found, x64 @ w.T + b64 + r64, atol=0.4 if dtype == "bf16" else 0.3)
    np.testing.assert_allclose(
        found,
        get_values(k.packed_linear(x, packed, compute=compute)) + b64 + r64,
        atol=0.3 if dtype == "bf16" else 0.03,
    )


def test_batch_dimensions(k):
    packed, w = weights(k, "q4_0", 32, 64)
    x = np.random.default_rng(2).normal(size=(2, 3, 64)).astype(np.float32)
    assert_product(k.packed_linear(x, packed, compute="f32").reshape(6, 32), x.reshape(6, 64).astype(float), w, "f32")
    assert k.packed_linear(x[:0], packed).shape == (0, 3, 32)


@pytest.mark.parametrize("compute", ERROR)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_in_its_row(k, compute, bad):
    packed, _ = weights(k, "q8_0", 40, 96)
    x = np.random.default_rng(4).normal(size=(7, 96)).astype(np.float32)
    clean = k.packed_linear(x, packed, compute=compute)
    x[3, 50] = bad
    found = k.packed_linear(x, packed, compute=compute)
    assert not np.isfinite(found[3]).any()
    np.testing.assert_array_equal(np.delete(found, 3, 0), np.delete(clean, 3, 0))


@pytest.mark.parametrize("scale", [0.0, 1e-44, 1e-38, 1e-30, 1e30])
@pytest.mark.parametrize("compute", ["i8", "i16", "f32"])
def test_sizes_of_activations(k, scale, compute):
    packed, w = weights(k, "q8_0", 40, 96)
    x = (np.random.default_rng(4).normal(size=(2, 96)) * scale).astype(np.float32)
    found, expected = k.packed_linear(x, packed, compute=compute).astype(np.float64), x.astype(np.float64) @ w.T
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.02 * np.abs(expected).max() + 1e-32)


def test_the_same_bits_on_any_number_of_threads(k):
    packed, _ = weights(k, "q4_1", 1000, 576)
    packed, before = torch.from_numpy(packed), torch.get_num_threads()
    found = {}
    try:
        for threads in (1, 2, 3, 4):
            torch.set_num_threads(threads)
            for compute in ERROR:
                for rows in (1, 5, 300):
                    x = torch.from_numpy(np.random.default_rng(rows).normal(size=(rows, 576)).astype(np.float32))
                    bits = k.packed_linear(x, packed, compute=compute).numpy().tobytes()
                    assert bits == found.setdefault((compute, rows), bits), f"{compute}, {rows} rows, {threads} threads"
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("compute", ERROR)
def test_a_row_does_not_depend_on_the_others(k, compute):
    """Of any number of rows from five on, whose tiles are the same."""
    packed, _ = weights(k, "q4_1", 100, 640)
    x = np.random.default_rng(5).normal(size=(300, 640)).astype(np.float32)
    whole = k.packed_linear(x, packed, compute=compute)
    for rows in (5, 6, 11, 64, 257):
        np.testing.assert_array_equal(k.packed_linear(x[:rows].copy(), packed, compute=compute), whole[:rows])


def test_a_packed_tensor_can_be_saved(k, tmp_path):
    packed, _ = weights(k, "q4_1", 20, 64)
    np.save(tmp_path / "w.npy", packed)
    x = np.ones((1, 64), np.float32)
    np.testing.assert_array_equal(k.packed_linear(x, np.load(tmp_path / "w.npy")), k.packed_linear(x, packed))


def damaged(packed, at, value):
    copy = packed.copy()
    copy.reshape(-1)[at : at + len(value)] = np.frombuffer(value, np.uint8)
    return copy


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: damaged(p, 0, b"x"), "got one that has no such header"),
        (
            lambda p: damaged(p, 8, b"\2"),
            "expected version 1 of the packed layout, got version 2: pack the weights again",
        ),
        (lambda p: damaged(p, 12, b"\x63"), "one of the unknown format 99"),
        (lambda p: p[:-1].copy(), "its header says 20 rows, its shape 19: a packed tensor can't be cut or reshaped"),
        (lambda p: p[:, :40].copy(), "bytes don't hold: the tensor is damaged"),
        (lambda p: damaged(p, 24, b"\xff" * 8), "its header says -1 columns"),
        (lambda p: damaged(p, 32, b"\1"), "the tensor is damaged"),  # tails, which this format hasn't
        (lambda p: damaged(p, 24, b"\xe0" + b"\xff" * 6 + b"\x7f"), "the tensor is damaged"),
        (lambda p: p[:1, :20].copy(), "got 20 bytes, less than their header"),
    ],
)
def test_damaged_packed_weights_are_refused(k, change, message):
    packed, _ = weights(k, "q4_1", 20, 64)
    with pytest.raises(ValueError, match=message):
        k.packed_linear(np.ones((1, 64), np.float32), change(packed))
    with pytest.raises(ValueError, match=message):
        k.packed_embedding(change(packed), np.zeros(1, np.int32), columns=64)


def test_other_mistakes(k):
    packed, _ = weights(k, "q4_1", 20, 64)
    with pytest.raises(
        ValueError, match="packed_linear: x: expected a last dimension of 64, the columns of the weight, got 32"
    ):
        k.packed_linear(np.ones((1, 32), np.float32), packed)
    with pytest.raises(ValueError, match="packed_embedding: columns: expected 64, as the weight has, got 32"):
        k.packed_embedding(packed, np.zeros(1, np.int32), columns=32)
    with pytest.raises(IndexError, match="packed_embedding: indices: element 1 is 20, but weight has 20 rows"):
        k.packed_embedding(packed, np.array([0, 20]), columns=64)
    with pytest.raises(ValueError, match="pack_q4_1: expected B % 20 == 0"):
        k.pack_q4_1(np.zeros((2, 21), np.uint8))


# Integers given as arrays: of groups of columns, signed or not, with zero points or without.
GROUPS = [(32, 1), (64, 2), (128, 3), (96, 2)]


def integers(rng, bits, signed, n, columns):
    low = -(1 << (bits - 1)) if signed else 0
    return rng.integers(low, low + (1 << bits), (n, columns)).astype(np.int8 if signed else np.uint8)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("with_zeros", [False, True])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize(("group", "groups"), GROUPS)
def test_integers_in_groups(k, group, groups, bits, signed, with_zeros, dtype):
    rng, n, columns = np.random.default_rng(group), 37, group * groups
    given = integers(rng, bits, signed, n, columns)
    scales, wide_scales = make(rng.normal(size=(n, groups)) / (1 << bits), dtype)
    zeros, wide_zeros = make(rng.integers(-3, 12, (n, groups)), dtype) if with_zeros else (None, np.zeros((n, groups)))
    if dtype == "bf16":
        given = torch.from_numpy(given)
    packed = getattr(k, f"pack_int{bits}")(given, scales, zeros)
    w = np.repeat(wide_scales, group, 1) * (np.asarray(given, np.float64) - np.repeat(wide_zeros, group, 1))
    packed = np.asarray(packed)
    unpacked = k.packed_embedding(packed, np.arange(n), columns=columns)
    np.testing.assert_allclose(unpacked, w, rtol=0, atol=1e-6 * np.abs(w).max() * 4)
    for rows in (1, 3, 9):
        x = rng.normal(size=(rows, columns)).astype(np.float32)
        for compute in ERROR:
            assert_product(k.packed_linear(x, packed, compute=compute), x.astype(np.float64), w, compute)


def test_mistakes_in_integers(k):
    values, scales = np.full((2, 64), 8, np.int8), np.ones((2, 1), np.float32)
    with pytest.raises(ValueError, match=r"pack_int4: values: expected numbers from -8 to 7, got 8 at \[0, 0\]"):
        k.pack_int4(values, scales)
    bad = np.zeros((2, 64), np.uint8)
    bad[1, 3] = 16
    with pytest.raises(ValueError, match=r"values: expected numbers from 0 to 15, got 16 at \[1, 3\]"):
        k.pack_int4(bad, scales)
    with pytest.raises(ValueError, match=r"pack_int8: expected K % \(32 \* G\) == 0"):
        k.pack_int8(values, np.ones((2, 3), np.float32))
    with pytest.raises(ValueError, match="pack_int4: expected K > 0, got K = 0"):
        k.pack_int4(np.zeros((2, 0), np.int8), scales)
    packed = k.pack_int8(values, scales)
    for tails in (0, 3, -1):
        with pytest.raises(ValueError, match="the tensor is damaged"):
            k.packed_embedding(damaged(packed, 32, np.int64(tails).tobytes()), np.zeros(1, np.int32), columns=64)


def test_damaged_values_are_computed_with(k):
    """All that a header doesn't guard is numbers: any bytes give a result, infinite or NaN at worst."""
    rng = np.random.default_rng(6)
    for form in FORMATS:
        columns = count_columns(form, 2)
        packed, _ = weights(k, form, 20, columns)
        for _ in range(50):
            copy = packed.copy().reshape(-1)
            copy[64:] = rng.integers(0, 256, copy.size - 64)
            for compute in ERROR:
                found = k.packed_linear(np.ones((6, columns), np.float32), copy.reshape(packed.shape), compute=compute)
                assert found.shape == (6, 20)
