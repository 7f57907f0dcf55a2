"""Run by test_cuda_gradients.py in processes of their own, with an emulated device: gradients of the kernels of rows against float64.

Where the reference has no gradient of its own, it is the derivative by complex steps or by central differences in float64."""

import re

import kernpack
import numpy as np
import pytest
import reference
from arrays import make
from on_device import K, View, failed_assertion, run, to_device, to_host
from support.row_activations import ROW_ACTIVATIONS

TOLERANCE = {"f32": 4e-6, "f64": 1e-12, "f16": 3e-3, "bf16": 2e-2}
SHAPES = ((1, 1), (3, 5), (2, 3, 128), (4, 129), (300, 40), (2, 5000), (0, 8))
STEP = 1e-6


def pair(rng, shape, dtype, scale=1.0):
    """On the device, and the float64 values that it holds."""
    given, wide = make(rng.normal(size=shape) * scale, dtype)
    return to_device(given), wide


def check(name, found, expected, dtype, tolerance=None):
    expected = np.asarray(expected)
    largest = max(1, np.abs(expected[np.isfinite(expected)]).max(initial=0))
    bound = max(TOLERANCE[dtype], tolerance or 0) * largest
    np.testing.assert_allclose(to_host(found), expected, rtol=0, atol=bound, err_msg=name)


def slope(of, x):
    """Of a function of single elements."""
    return (of(x + STEP) - of(x - STEP)) / (2 * STEP)


def norms(dtype):
    """d_weight and d_bias sum up more rows than there are parts; a width whose sums lie in memory, not in shared memory."""
    rng = np.random.default_rng(1)
    for shape in SHAPES:
        (d, d64), (x, x64), (s, s64) = (pair(rng, shape, dtype) for _ in range(3))
        for of_weight in {dtype, "f32"}:
            w, w64 = pair(rng, shape[-1:], of_weight)
            name = f"{shape} {of_weight}"
            for op, added, expected, eps in (
                (K.rms_norm_backward, K.add_rms_norm_backward, reference.rms_norm_backward, 1e-6),
                (K.layer_norm_backward, K.add_layer_norm_backward, reference.layer_norm_backward, 1e-3),
            ):
                d_x, *of_weights = expected(d64, x64, w64, eps)
                found = op(d, x, w, eps=eps)
                check(name, found[0], d_x, dtype, 2e-5 if shape[-1] == 1 else None)
                for one, wanted in zip(found[1:], of_weights, strict=True):
                    check(name, one, wanted, of_weight)
                both = added(d, s, x, w, eps=eps)
                check(name, both[0], d_x + s64, dtype, 2e-5 if shape[-1] == 1 else None)
                np.testing.assert_array_equal(to_host(both[0]), to_host(both[1]))
                for one, other in zip(both[2:], found[1:], strict=True):
                    np.testing.assert_array_equal(to_host(one), to_host(other))
            yield


def magnitudes(dtype):
    """Sums that overflow or vanish in the type that they are formed in; rows far from zero."""
    rng = np.random.default_rng(2)
    for scale, of_d in (
        ((1e25, 1e25), (1e-25, 1e-10), (1.0, 1e36)) if dtype == "f32" else ((1e160, 1.0), (1e-170, 1e-9))
    ):
        (x, x64), (d, d64), (w, w64) = (
            pair(rng, (3, 130), dtype, scale),
            pair(rng, (3, 130), dtype, of_d),
            pair(rng, (130,), dtype),
        )
        for op, expected in (
            (K.rms_norm_backward, reference.rms_norm_backward),
            (K.layer_norm_backward, reference.layer_norm_backward),
        ):
            found, wanted = op(d, x, w, eps=0.0), expected(d64, x64.astype(np.longdouble), w64, 0.0)
            for one, other in zip(found, wanted, strict=True):
                largest = np.abs(other).max()
                np.testing.assert_allclose(
                    to_host(one) / largest, np.float64(other / largest), rtol=0, atol=TOLERANCE[dtype]
                )
        yield


def layouts(dtype):
    """x with every second column of a tensor: its gradient is contiguous."""
    rng = np.random.default_rng(3)
    whole, wide = pair(rng, (3, 4, 40), dtype)
    view = View(whole, (3, 4, 10), (160, 40, 2), 3, dtype)
    x, x64 = kernpack.from_dlpack(view), wide[:, :, 3:23:2]
    (d, d64), (w, w64) = pair(rng, (3, 4, 10), dtype), pair(rng, (10,), dtype)
    check("rms_norm", K.rms_norm_backward(d, x, w, eps=1e-6)[0], reference.rms_norm_backward(d64, x64, w64)[0], dtype)
    check("silu", K.silu_backward(d, x), d64 * slope(reference.silu, x64), dtype)
    cos, sin = pair(rng, (1, 4, 5), "f32"), pair(rng, (1, 4, 5), "f32")
    heads = View(whole, (3, 4, 1, 10), (160, 40, 40, 2), 3, dtype)
    K.apply_rope(kernpack.from_dlpack(heads), cos[0], sin[0])
    rotated = np.array(wide)
    rotated[:, :, 3:23:2] = reference.rope(x64[:, :, None], cos[1], sin[1])[:, :, 0]
    check("apply_rope", whole, rotated, dtype)
    yield


def gates(dtype):
    rng = np.random.default_rng(4)
    for shape in SHAPES:
        (d, d64), (a, a64), (b, b64) = pair(rng, shape, dtype), pair(rng, shape, dtype, 4.0), pair(rng, shape, dtype)
        of_silu = slope(reference.silu, a64)
        tolerance = 1e-8
        for name, activation in ROW_ACTIVATIONS.items():
            d_x = getattr(K, f"{name}_backward")(d, a)
            check(f"{name} {shape}", d_x, d64 * activation.slope(a64), dtype)
        d_gate, d_up = K.swiglu_backward(d, a, b)
        check(f"{shape}", d_gate, d64 * b64 * of_silu, dtype, tolerance)
        check(f"{shape}", d_up, d64 * reference.silu(a64), dtype)
        for form in ("none", "tanh"):
            of_gelu = reference.gelu_slopes(a64, form)[0]
            d_gate, d_up = K.geglu_backward(d, a, b, approximate=form)
            check(f"{shape} {form}", d_gate, d64 * b64 * of_gelu, dtype)
            check(f"{shape} {form}", d_up, d64 * reference.gelu(a64, form), dtype)
            check(f"{shape} {form}", K.gelu_backward(d, a, approximate=form), d64 * of_gelu, dtype)
            check(f"{shape} {form}", K.gelu_jvp(d, a, approximate=form), d64 * of_gelu, dtype)
        yield
    ends, ones = (
        to_device(make(np.array([-np.inf, -1e4, 0.0, 1e4, np.inf, np.nan]), dtype)[0]),
        to_device(make(np.ones(6), dtype)[0]),
    )
    for found in (
        K.silu_backward(ones, ends),
        K.gelu_backward(ones, ends, approximate="none"),
        K.gelu_backward(ones, ends, approximate="tanh"),
    ):
        np.testing.assert_allclose(to_host(found), [0, 0, 0.5, 1, 1, np.nan], rtol=0, atol=1e-6)
    yield


def softmax(dtype):
    rng = np.random.default_rng(7)
    for shape in (*SHAPES, (3, 70, 6)):
        d, d64 = pair(rng, shape, dtype)
        probs, p64 = make(reference.softmax(rng.normal(size=shape) * 3), dtype)
        probs = to_device(probs)
        expected = reference.softmax_backward(d64, p64)[0]
        check(f"{shape}", K.softmax_backward(d, probs), expected, dtype)
        for of_mask in {
            shape,
            (1, *shape[1:]),
            (*(1 for _ in shape[1:]), shape[-1]),
            shape[-1:],
            (shape[0], *(1 for _ in shape[2:]), shape[-1]),
        }:
            for of in {dtype, "f32"}:
                mask = kernpack.empty(of_mask, of, "cuda:0")
                found = K.softmax_mask_backward(d, probs, mask)
                check(f"{shape} {of_mask} {of}", found, reference.summed_to(expected, of_mask), of)
                yield
    large = to_device(
        make(
            np.array([[3e38 if dtype in ("f32", "bf16") else 6e4, -3e38 if dtype in ("f32", "bf16") else -6e4]]), dtype
        )[0]
    )
    half = to_device(make(np.array([[0.5, 0.5]]), dtype)[0])
    found = to_host(K.softmax_backward(large, half))
    assert np.isfinite(found).all(), found
    yield


def embedding(dtype):
    rng = np.random.default_rng(8)
    for rows, width in ((1, 1), (5, 3), (400, 16), (7, 1030), (3, 0)):
        table, wide = pair(rng, (rows, width), dtype)
        for shape in ((), (4,), (2, 1, 3), (0, 2), (300,)):
            for integer in (np.int32, np.int64):
                indices = np.asarray(rng.integers(0, rows, shape), integer)
                d, d64 = pair(rng, (*shape, width), dtype)
                expected = np.zeros((rows, width))
                np.add.at(expected, indices, d64)
                check(f"{rows} {width} {shape}", K.embedding_backward(d, table, to_device(indices)), expected, dtype)
                np.testing.assert_array_equal(to_host(K.embedding_jvp(table, to_device(indices))), wide[indices])
                if shape == (300,):
                    padding = {"padding_idx": rows // 2}
                    counts = (indices != rows // 2)[..., None]
                    expected[rows // 2] = 0
                    found = K.embedding_backward(d, table, to_device(indices), **padding)
                    check(f"{rows} {width} {shape} with padding", found, expected, dtype)
                    found = to_host(K.embedding_jvp(table, to_device(indices), **padding))
                    np.testing.assert_array_equal(found, np.where(counts, wide[indices], 0))
                yield


def rope(dtype):
    """Rotating back by the same angles; x itself, in place."""
    rng = np.random.default_rng(5)
    for shape, pairs in (((5, 3, 8), 4), ((2, 4, 1, 6), 2), ((2, 3, 70, 140), 70), ((2, 5, 3, 32), 16)):
        x, x64 = pair(rng, shape, dtype)
        for batch in {shape[:-2], (1,) * (len(shape) - 3) + shape[-3:-2]}:
            (c, c64), (s, s64) = pair(rng, (*batch, pairs), "f32"), pair(rng, (*batch, pairs), "f32")
            for interleaved in (False, True):
                expected = reference.rope(x64, c64, -s64, interleaved)
                check(f"{shape} {batch}", K.rope_backward(x, c, s, interleaved=interleaved), expected, dtype)
                placed = x.to("cpu").to(kernpack.device("cuda", 0))
                K.apply_rope(placed, c, s, interleaved=interleaved)
                check(f"{shape} {batch}", placed, reference.rope(x64, c64, s64, interleaved), dtype)
                yield


def log_sum(x):
    top = x.max(-1, keepdims=True)
    return (top + np.log(np.exp(x - top).sum(-1, keepdims=True)))[..., 0]


def cross_entropy(dtype):
    rng = np.random.default_rng(9)
    for shape in ((1, 1), (3, 5), (2, 3, 128), (4, 1000), (0, 8)):
        logits, x = pair(rng, shape, dtype, 3.0)
        for integer in (np.int32, np.int64):
            targets = rng.integers(0, shape[-1], shape[:-1]).astype(integer)
            targets.reshape(-1)[1::3] = -100
            counts, chosen = targets != -100, np.maximum(targets, 0)
            (d, d64), on_device = pair(rng, shape[:-1], "f32"), to_device(targets)
            sums = log_sum(x)
            for smoothing, z in ((0.0, 0.0), (0.1, 0.01)):
                options = {"label_smoothing": smoothing, "z_loss": z}
                hit = np.take_along_axis(x, chosen[..., None].astype(np.int64), -1)[..., 0]
                loss = sums - ((1 - smoothing) * hit + smoothing * x.mean(-1)) + z * sums**2
                check(
                    f"{shape} {options}",
                    K.cross_entropy(logits, on_device, **options),
                    np.where(counts, loss, 0),
                    "f32",
                )
                probs = np.exp(x - sums[..., None])
                wanted = probs * (1 + 2 * z * sums)[..., None] - smoothing / shape[-1]
                wanted -= (1 - smoothing) * (np.arange(shape[-1]) == chosen[..., None])
                wanted *= (d64 * counts)[..., None]
                lse = to_device(np.where(counts, sums, 0).astype(np.float32))
                found = K.cross_entropy_backward(d, logits, on_device, lse, ignore_index=-100, **options)
                check(f"{shape} {options}", found, wanted, dtype)
                yield


def refusals():
    logits, targets = to_device(np.zeros((2, 3), np.float32)), to_device(np.zeros(2, np.int32))
    for call, text in (
        (
            lambda: K.cross_entropy(logits, targets, label_smoothing=1.5),
            "label_smoothing: expected a number from 0 to 1, got 1.5",
        ),
        (
            lambda: K.cross_entropy(logits, targets, z_loss=-1.0),
            "z_loss: expected a positive number, or 0 for none, got -1",
        ),
        (
            lambda: K.softmax_mask_backward(logits, logits, to_device(np.zeros((5, 3), np.float32))),
            "mask: expected 1 or 2 in dimension 0, got 5",
        ),
        (
            lambda: K.softmax_mask_backward(logits, logits, to_device(np.zeros((2, 4), np.float32))),
            "mask: expected at most 2 dimensions, the last of 3, got [2, 4]",
        ),
    ):
        with pytest.raises(ValueError, match=re.escape(text)):
            call()
        yield


def outside(op: str):
    """An assertion that fails ends the device's use in the process, so each op needs a process of its own."""
    table, far = to_device(np.zeros((3, 4), np.float32)), to_device(np.array([0, 3]))
    if op == "embedding_backward":
        found, name = (
            K.embedding_backward(to_device(np.zeros((2, 4), np.float32)), table, far),
            "embedding_index_is_in_the_table",
        )
    else:
        found, name = K.cross_entropy(table, to_device(np.array([0, 4, 0]))), "cross_entropy_target_is_a_class"
    with pytest.raises(RuntimeError, match=failed_assertion(name)):
        found.to("cpu")
    yield


run(globals())
