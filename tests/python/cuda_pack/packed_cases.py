"""Run by test_cuda_packed.py in processes of their own, with an emulated device: products with packed weights, against float64."""

import re

import kernpack
import numpy as np
import pytest
from arrays import get_values, make
from on_device import EMULATED, K, View, failed_assertion, only, run, to_device, to_host
from support.ggml_blocks import BLOCK_COLUMNS, FORMATS, random_blocks

# Rows, and columns in blocks of 32: borders of groups of 16 rows, and of the eight warps that share the columns.
SHAPES = ((3, 8), (16, 16), (37, 24), (70, 40))
TOLERANCE = {"f32": 3e-6, "f16": 2e-3, "bf16": 1.6e-2}


def weights():
    """Of every format and shape, with what they hold."""
    rng = np.random.default_rng(1)
    for rows, blocks in SHAPES:
        columns = 32 * blocks
        packed = [
            (form, getattr(K, f"pack_{form}")(random_blocks(rng, form, rows, columns)))
            for form in FORMATS
            if columns % BLOCK_COLUMNS[form] == 0
        ]
        for name, high in (("int4", 16), ("int8", 256)):
            values = rng.integers(0, high, (rows, columns)).astype(np.uint8)
            scales, zeros = (rng.normal(size=(rows, blocks // 4)).astype(np.float32) for _ in range(2))
            packed.append((name, getattr(K, f"pack_{name}")(values, scales, zeros)))
        for name, each in packed:
            yield f"{name} {rows} x {columns}", each, K.packed_embedding(each, np.arange(rows), columns=columns)


def products(dtype):
    rng = np.random.default_rng(2)
    for name, packed, w in weights():
        on_device, w64 = to_device(packed), w.astype(np.float64)
        for rows in (1, 2, 5, 9, 40):
            x, x64 = make(rng.normal(size=(rows, w.shape[1])), dtype)
            found = to_host(K.packed_linear(to_device(x), on_device))
            size = np.sqrt(np.square(x64) @ np.square(w64).T)
            assert np.abs(found - x64 @ w64.T).max() < TOLERANCE[dtype] * size.max() * 4, f"{name} {rows}"
        yield


def sm90(dtype):
    """By wgmma, which more than 32 rows of x take: borders of blocks of 64 rows, and of the 64 rows of the weight that a block has."""
    rng = np.random.default_rng(7)
    for name, packed, w in weights():
        on_device, w64 = to_device(packed), w.astype(np.float64)
        for rows in (33, 64, 129):
            x, x64 = make(rng.normal(size=(rows, w.shape[1])), dtype)
            with only(f"packed_linear_sm90_64_{dtype}"):
                found = to_host(K.packed_linear(to_device(x), on_device))
            size = np.sqrt(np.square(x64) @ np.square(w64).T)
            assert np.abs(found - x64 @ w64.T).max() < TOLERANCE[dtype] * size.max() * 4, f"{name} {rows}"
        yield
    packed = K.pack_q4_1(random_blocks(rng, "q4_1", 20, 96))  # the end of a row isn't that of a tile of 64 columns
    x, bias, residual = (make(rng.normal(size=size), dtype)[0] for size in ((2, 40, 96), (20,), (2, 40, 20)))
    weight = packed if dtype != "bf16" else to_host_tensor(packed)
    for activation in ("none", "relu", "silu", "gelu", "gelu_tanh"):
        on_device = (to_device(each) for each in (x, packed, bias, residual))
        with only(f"packed_linear_sm90_64_{dtype}"):
            found = to_host(K.packed_linear(*on_device, activation=activation))
        expected = get_values(K.packed_linear(x, weight, bias, residual, compute="f32", activation=activation))
        np.testing.assert_allclose(found, expected, atol=TOLERANCE[dtype] * np.abs(expected).max(), err_msg=activation)
        yield


def left_to_others():
    """The kernel for sm_90 is chosen, but not for these calls."""
    rng = np.random.default_rng(8)
    packed = to_device(K.pack_q4_1(random_blocks(rng, "q4_1", 20, 64)))
    for rows, dtype, kernel in ((32, "f16", "packed_linear_mma_32_f16"), (33, "f32", "packed_linear_f32")):
        with only(kernel):
            K.packed_linear(to_device(make(rng.normal(size=(rows, 64)), dtype)[0]), packed)
        yield
    tensor = to_device(np.zeros(33 * 64 + 1, np.float16))
    out = kernpack.empty((33, 20), "f16", kernpack.device("cuda", 0))
    with only("packed_linear_f16"):
        K.packed_linear(View(tensor, (33, 64), (64, 1), 1, "f16"), packed, out=out)
    yield
    if EMULATED:  # its second device is older
        older, x = kernpack.device("cuda", 1), np.zeros((33, 64), np.float16)
        given = (kernpack.from_dlpack(each).to(older) for each in (x, packed.to("cpu")))
        with only("packed_linear_mma_32_f16"):
            K.packed_linear(*given)
        yield


def no_such_kernel():
    """An error of the variable that chooses a kernel."""
    packed = K.pack_q4_1(random_blocks(np.random.default_rng(4), "q4_1", 20, 64))
    text = "packed_linear: expected the variable KERNPACK_CUDA_PACKED_LINEAR to be 'mma' or 'wgmma', got 'fast'"
    with pytest.raises(ValueError, match=re.escape(text)):
        K.packed_linear(to_device(np.zeros((1, 64), np.float32)), to_device(packed))
    yield


def ends(dtype):
    """Biases, residuals and activations, as on the CPU."""
    rng = np.random.default_rng(3)
    packed = K.pack_q4_1(random_blocks(rng, "q4_1", 20, 64))
    for activation in ("none", "relu", "silu", "gelu", "gelu_tanh"):
        for rows in ((), (3,), (2, 3)):
            x, bias, residual = (make(rng.normal(size=s), dtype)[0] for s in ((*rows, 64), (20,), (*rows, 20)))
            for more in ((), (bias,), (None, residual), (bias, residual)):
                on_device = [None if each is None else to_device(each) for each in more]
                found = to_host(K.packed_linear(to_device(x), to_device(packed), *on_device, activation=activation))
                weight = packed if dtype != "bf16" else to_host_tensor(packed)
                expected = get_values(K.packed_linear(x, weight, *more, compute="f32", activation=activation))
                scale = max(1, np.abs(expected).max())
                np.testing.assert_allclose(found, expected, atol=TOLERANCE[dtype] * scale, err_msg=activation)
                yield
    assert to_host(K.packed_linear(to_device(np.zeros((0, 64), np.float32)), to_device(packed))).shape == (0, 20)


def to_host_tensor(array):
    """As a tensor of torch: arguments of one call are of one framework."""
    import torch

    return torch.from_numpy(array)


def unaligned(dtype):
    """x begins between the 16 bytes that a thread takes at a time."""
    rng = np.random.default_rng(5)
    packed = to_device(K.pack_q4_1(random_blocks(rng, "q4_1", 20, 64)))
    for offset in (1, 4):
        given, wide = make(rng.normal(size=3 * 64 + offset), dtype)
        tensor = to_device(given)
        view = View(tensor, (3, 64), (64, 1), offset, dtype)
        found = kernpack.empty((3, 20), dtype, kernpack.device("cuda", 0))
        K.packed_linear(view, packed, out=found)
        expected = to_host(K.packed_linear(to_device(make(wide[offset:].reshape(3, 64), dtype)[0]), packed))
        np.testing.assert_allclose(to_host(found), expected, atol=TOLERANCE[dtype] * np.abs(expected).max())
        yield


def embedding():
    for name, packed, w in weights():
        for dtype in (np.int32, np.int64):
            rows = np.arange(len(w))[::-1].astype(dtype)
            found = K.packed_embedding(to_device(packed), to_device(rows), columns=w.shape[1])
            np.testing.assert_array_equal(to_host(found), w[rows], err_msg=name)
        yield


def damaged(how: str, chosen: str):
    """A tensor that isn't a packed weight is found on the device, which alone can read it; a process for each."""
    packed = K.pack_q4_1(random_blocks(np.random.default_rng(4), "q4_1", 20, 64)).copy()
    columns, flat = 64, packed.reshape(-1)
    if how == "magic":
        flat[0] ^= 1
    elif how == "format":
        flat[12] = 99
    elif how == "columns":
        columns = 96
    elif how == "short":
        packed = packed[:, :-1].copy()
    says = {"magic": "weight_is_of_a_pack_function", "columns": "weight_has_the_columns", "short": "weight_is_whole"}
    x = np.zeros((1, columns), np.float32) if chosen == "mma" else np.zeros((40, columns), np.float16)
    found = K.packed_linear(to_device(x), to_device(packed))
    with pytest.raises(RuntimeError, match=failed_assertion(says.get(how, "weight_is_of_a_pack_function"))):
        found.to("cpu")
    yield


def refusals():
    x, weight = np.zeros((1, 64), np.float32), np.zeros((4, 64), np.float32)
    with pytest.raises(ValueError, match=r"weight: expected a weight of integers \(u8\) on a CUDA device"):
        K.packed_linear(to_device(x), to_device(K.pack_linear(weight)))
    with pytest.raises(ValueError, match=r"weight: expected a weight of integers \(u8\) on a CUDA device"):
        K.packed_embedding(to_device(K.pack_linear(weight)), to_device(np.zeros(1, np.int32)), columns=64)
    yield


run(globals())
