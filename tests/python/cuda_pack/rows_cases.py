"""Run by test_cuda_rows.py in processes of their own, with an emulated device: its kernels of rows against float64."""

import re

import kernpack
import numpy as np
import pytest
import reference
from arrays import make
from on_device import K, View, failed_assertion, run, to_device, to_host
from support.row_activations import ROW_ACTIVATIONS

TOLERANCE = {"f32": 3e-6, "f64": 1e-12, "f16": 2e-3, "bf16": 1.6e-2}
SHAPES = ((1, 1), (3, 5), (2, 3, 128), (4, 129), (2, 1000), (0, 8))


def pair(rng, shape, dtype, scale=1.0):
    """On the device, and the float64 values that it holds."""
    given, wide = make(rng.normal(size=shape) * scale, dtype)
    return to_device(given), wide


def check(name, found, expected, dtype):
    largest = max(1, np.abs(expected[np.isfinite(expected)]).max(initial=0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE[dtype] * largest, err_msg=name)


def norms(dtype):
    rng = np.random.default_rng(1)
    for shape in SHAPES:
        (x, x64), (r, r64) = pair(rng, shape, dtype), pair(rng, shape, dtype)
        for of_weight in {dtype, "f32"}:
            (w, w64), (b, b64) = pair(rng, shape[-1:], of_weight), pair(rng, shape[-1:], of_weight)
            name = f"{shape} {of_weight}"
            check(name, to_host(K.rms_norm(x, w)), reference.rms_norm(x64, w64), dtype)
            check(name, to_host(K.layer_norm(x, w, b, eps=1e-3)), reference.layer_norm(x64, w64, b64, 1e-3), dtype)
            check(name, to_host(K.layer_norm(x, w)), reference.layer_norm(x64, w64), dtype)
            for op, expected, more, more64 in (
                (K.add_rms_norm, reference.rms_norm, (), ()),
                (K.add_layer_norm, reference.layer_norm, (b,), (b64,)),
            ):
                out, total = map(to_host, op(x, r, w, *more))
                check(name, total, x64 + r64, dtype)
                check(name, out, expected(total, w64, *more64), dtype)
            yield


def magnitudes(dtype):
    """Squares that overflow or vanish in the type that sums are formed in."""
    rng = np.random.default_rng(2)
    scales = {
        "f32": (1e30, 1e-30, 1e19),
        "f64": (1e155, 1e200, 1e-165, 1e-200),
        "f16": (2e4, 1e-5),
        "bf16": (1e30, 1e-30),
    }
    for scale in scales[dtype]:
        x, x64 = pair(rng, (2, 130), dtype, scale)
        w, w64 = pair(rng, (130,), dtype)
        wide = x64.astype(np.longdouble), w64
        check(f"{scale}", to_host(K.rms_norm(x, w, eps=0.0)), reference.rms_norm(*wide, 0.0), dtype)
        check(f"{scale}", to_host(K.layer_norm(x, w, eps=0.0)), reference.layer_norm(*wide, 0.0, 0.0), dtype)
        yield
    far, far64 = make(rng.normal(size=(2, 130)) + 1e4, "f32")
    ones = np.ones(130, np.float32)
    found = to_host(K.layer_norm(to_device(far), to_device(ones)))
    check("far from zero", found, reference.layer_norm(far64, ones.astype(np.float64)), "f32")
    assert not to_host(K.rms_norm(to_device(np.zeros((2, 4), np.float32)), to_device(np.ones(4, np.float32)))).any()


def layouts(dtype):
    """Every second column of a part of a tensor, rows in another order of dimensions."""
    rng = np.random.default_rng(3)
    whole, wide = pair(rng, (3, 4, 40), dtype)
    w, w64 = pair(rng, (10,), dtype)
    views = (((4, 3, 10), (40, 160, 1), 7), ((3, 4, 10), (160, 40, 2), 3), ((3, 10), (160, 3), 0))
    kept = [View(whole, *view, dtype) for view in views]  # longer than what is made of them
    for view, (shape, strides, offset) in zip(kept, views, strict=True):
        x = kernpack.from_dlpack(view)
        x64 = np.lib.stride_tricks.as_strided(wide.reshape(-1)[offset:], shape, [8 * s for s in strides])
        check(f"{strides}", to_host(K.rms_norm(x, w)), reference.rms_norm(x64, w64), dtype)
        check(f"{strides}", to_host(K.silu(x)), reference.silu(x64), dtype)
        yield


def gates(dtype):
    rng = np.random.default_rng(4)
    for shape in SHAPES:
        (a, a64), (b, b64) = pair(rng, shape, dtype, 4.0), pair(rng, shape, dtype)
        for name, activation in ROW_ACTIVATIONS.items():
            check(f"{name} {shape}", to_host(getattr(K, name)(a)), activation.value(a64), dtype)
        check(f"{shape}", to_host(K.swiglu(a, b)), reference.silu(a64) * b64, dtype)
        for form in ("none", "tanh"):
            expected = reference.gelu(a64, form) * b64
            check(f"{shape} {form}", to_host(K.geglu(a, b, approximate=form)), expected, dtype)
        yield
    ends = to_device(make(np.array([-np.inf, -1e4, 0.0, 1e4, np.inf, np.nan]), dtype)[0])
    np.testing.assert_array_equal(to_host(K.silu(ends))[[0, 2, 4, 5]], [0, 0, np.inf, np.nan])
    assert to_host(K.silu(ends))[1] == 0
    yield


def gelu(dtype):
    rng = np.random.default_rng(6)
    for shape in (*SHAPES, ()):
        x, x64 = pair(rng, shape, dtype, 4.0)
        for form in ("none", "tanh"):
            check(f"{shape} {form}", to_host(K.gelu(x, approximate=form)), reference.gelu(x64, form), dtype)
        yield


def softmax(dtype):
    rng = np.random.default_rng(7)
    for shape in SHAPES:
        x, x64 = pair(rng, shape, dtype, 3.0)
        check(f"{shape}", to_host(K.softmax(x)), reference.softmax(x64), dtype)
        for of_mask in {shape, (1, *shape[1:]), (*(1 for _ in shape[1:]), shape[-1])}:
            kept = rng.random(of_mask) < 0.6
            check(f"{shape} {of_mask}", to_host(K.softmax(x, to_device(kept))), reference.softmax(x64, kept), dtype)
            for of in ("f32", "f16", "f64", "bf16"):
                added, added64 = make(np.where(kept, rng.normal(size=of_mask), -np.inf), of)
                found = to_host(K.softmax(x, to_device(added)))
                check(f"{shape} {of_mask} {of}", found, reference.softmax(x64, added64), dtype)
            yield
    large = to_device(make(np.array([[6e4, 6e4, -6e4], [-np.inf, -np.inf, -np.inf], [np.nan, 0, 0]]), dtype)[0])
    np.testing.assert_array_equal(to_host(K.softmax(large)), [[0.5, 0.5, 0], [0, 0, 0], [np.nan] * 3])
    yield


def embedding(dtype):
    rng = np.random.default_rng(8)
    for rows, width in ((1, 1), (5, 3), (40, 16), (7, 130), (3, 0)):
        table, wide = pair(rng, (rows, width), dtype)
        for shape in ((), (4,), (2, 1, 3), (0, 2)):
            for integer in (np.int32, np.int64):
                indices = np.asarray(rng.integers(0, rows, shape), integer)
                found = to_host(K.embedding(table, to_device(indices)))
                np.testing.assert_array_equal(found, wide[indices])
                yield


def rope(dtype):
    rng = np.random.default_rng(5)
    for shape, pairs in (((5, 3, 8), 4), ((2, 4, 1, 6), 2), ((1, 1, 1), 0), ((2, 3, 70, 140), 70), ((2, 5, 3, 32), 16)):
        x, x64 = pair(rng, shape, dtype)
        for batch in {shape[:-2], (1,) * (len(shape) - 3) + shape[-3:-2]}:
            (c, c64), (s, s64) = pair(rng, (*batch, pairs), "f32"), pair(rng, (*batch, pairs), "f32")
            for interleaved in (False, True):
                found = to_host(K.rope(x, c, s, interleaved=interleaved))
                check(f"{shape} {batch}", found, reference.rope(x64, c64, s64, interleaved), dtype)
                yield


def refusals():
    deep = to_device(np.zeros((1,) * 10, np.float32))
    with pytest.raises(ValueError, match=re.escape("x: expected at most 9 dimensions on a CUDA device, got 10")):
        K.silu(deep)
    yield
    with pytest.raises(ValueError, match=re.escape("x: expected at most 9 dimensions on a CUDA device, got 10")):
        K.softmax(deep, to_device(np.ones((1,) * 10, bool)))
    yield


def outside(index: str):
    """An assertion that fails ends the device's use in the process, so each index needs a process of its own."""
    table, indices = to_device(np.zeros((3, 4), np.float32)), to_device(np.array([0, int(index)]))
    found = K.embedding(table, indices)
    with pytest.raises(RuntimeError, match=failed_assertion("embedding_index_is_in_the_table")):
        found.to("cpu")
    yield


run(globals())
