"""Run by test_cuda_fused.py in processes of their own, with an emulated device: fused_linear_cross_entropy against float64."""

import re

import numpy as np
import pytest
from arrays import make
from on_device import K, View, failed_assertion, run, to_device, to_host

# Rows, width and classes: borders of tiles of 128, of stripes of 1,024 classes, and widths that tensor cores don't take.
SHAPES = ((1, 8, 1), (3, 16, 130), (2, 40, 1100), (130, 32, 7), (5, 11, 140), (0, 8, 5))
OF_RESULT = {"f32": 1e-5, "f16": 4e-3, "bf16": 3e-2}
OPTIONS = ({}, {"label_smoothing": 0.1, "z_loss": 0.01}, {"ignore_index": 0})


def expected(x, weight, targets, d, ignore_index=-100, label_smoothing=0.0, z_loss=0.0):
    """The losses, the sums' logarithms, d_x and d_weight."""
    counts = targets != ignore_index
    rows, hit = np.arange(len(targets)), np.where(counts, targets, 0)
    logits = np.where(counts[:, None], x, 0) @ weight.T
    top = logits.max(-1, keepdims=True, initial=-np.inf)
    exponentials = np.exp(logits - top)
    lse = np.log(exponentials.sum(-1)) + top[:, 0]
    at = (1 - label_smoothing) * logits[rows, hit] + label_smoothing * logits.mean(-1)
    loss = np.where(counts, lse - at + z_loss * lse**2, 0)
    slopes = np.exp(logits - lse[:, None]) * (1 + 2 * z_loss * lse)[:, None] - label_smoothing / len(weight)
    slopes[rows, hit] -= 1 - label_smoothing
    slopes *= np.where(counts, d, 0)[:, None]
    return loss, np.where(counts, lse, 0), slopes @ weight, slopes.T @ np.where(counts[:, None], x, 0)


def check(name, found, wanted, dtype):
    """Within what rounding the slopes and the result to `dtype` may lose."""
    scale = np.abs(wanted).max(initial=1e-3)
    np.testing.assert_allclose(
        to_host(found), wanted, rtol=OF_RESULT[dtype], atol=OF_RESULT[dtype] * scale, err_msg=name
    )


def problem(rng, rows, width, classes, dtype):
    x, x64 = make(rng.normal(size=(rows, width)), dtype)
    weight, w64 = make(rng.normal(size=(classes, width)), dtype)
    targets = rng.integers(0, classes, rows)
    targets[1::3] = -100
    d = rng.normal(size=rows).astype(np.float32)
    return to_device(x), x64, to_device(weight), w64, targets, d


def losses(dtype):
    rng = np.random.default_rng(1)
    for shape in SHAPES:
        for options, integer in zip(OPTIONS, (np.int64, np.int32, np.int64), strict=True):
            x, x64, weight, w64, targets, d = problem(rng, *shape, dtype)
            targets = np.maximum(targets, 0) if "ignore_index" in options else targets
            on_device = to_device(targets.astype(integer))
            loss, lse, d_x, d_weight = expected(x64, w64, targets, d.astype(float), **options)
            name = f"{shape} {options}"
            check(name, K.fused_linear_cross_entropy(x, weight, on_device, **options), loss, "f32")
            by = {"ignore_index": -100, "label_smoothing": 0.0, "z_loss": 0.0} | options
            sums = to_device(lse.astype(np.float32))
            found = K.fused_linear_cross_entropy_backward(to_device(d), x, weight, on_device, sums, **by)
            check(f"{name}: d_x", found[0], d_x, dtype)
            check(f"{name}: d_weight", found[1], d_weight, dtype)
            yield


def chunks(dtype):
    """More classes than one chunk has room for: d_x is summed over two."""
    rng = np.random.default_rng(2)
    x, x64, weight, w64, targets, d = problem(rng, 3, 8, 256 * 128 + 130, dtype)
    _, lse, d_x, d_weight = expected(x64, w64, targets, d.astype(float))
    by = {"ignore_index": -100, "label_smoothing": 0.0, "z_loss": 0.0}
    found = K.fused_linear_cross_entropy_backward(
        to_device(d), x, weight, to_device(targets), to_device(lse.astype(np.float32)), **by
    )
    check("d_x", found[0], d_x, dtype)
    check("d_weight", found[1], d_weight, dtype)
    yield


def ignored(dtype):
    """Rows that don't count aren't read, and a row has the same loss alone and among others."""
    rng = np.random.default_rng(3)
    _, x64, weight, w64, targets, d = problem(rng, 140, 16, 300, dtype)
    x64[targets == -100] = np.nan
    x, on_device = make(x64, dtype)[0], to_device(targets)
    loss = K.fused_linear_cross_entropy(to_device(x), weight, on_device)
    wanted, lse, d_x, d_weight = expected(np.where(np.isnan(x64), 0, x64), w64, targets, d.astype(float))
    check("loss", loss, wanted, "f32")
    by = {"ignore_index": -100, "label_smoothing": 0.0, "z_loss": 0.0}
    sums = to_device(lse.astype(np.float32))
    found = K.fused_linear_cross_entropy_backward(to_device(d), to_device(x), weight, on_device, sums, **by)
    check("d_x", found[0], d_x, dtype)
    check("d_weight", found[1], d_weight, dtype)
    for row in (0, 129, 139):
        alone = K.fused_linear_cross_entropy(to_device(x[row : row + 1]), weight, to_device(targets[row : row + 1]))
        assert to_host(alone)[0] == to_host(loss)[row]
    yield


def unaligned(dtype):
    """x begins behind the 16 bytes that tensor cores need."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=(1 + 4 * 16,))
    whole, wide = make(values, dtype)
    held = View(to_device(whole), (4, 16), (16, 1), 1, dtype)
    weight, w64 = make(rng.normal(size=(9, 16)), dtype)
    targets = np.array([3, 0, 8, 5])
    loss, lse = (to_device(np.zeros(4, np.float32)) for _ in range(2))
    K.fused_linear_cross_entropy(held, to_device(weight), to_device(targets), out=(loss, lse))
    check("loss", loss, expected(wide[1:].reshape(4, 16), w64, targets, np.ones(4))[0], "f32")
    yield


def empty():
    """No classes: nothing counts, and the gradient of x is 0."""
    x, weight = to_device(np.ones((2, 8), np.float32)), to_device(np.zeros((0, 8), np.float32))
    targets, of_rows = to_device(np.full(2, -100, np.int64)), to_device(np.ones(2, np.float32))
    assert (to_host(K.fused_linear_cross_entropy(x, weight, targets)) == 0).all()
    by = {"ignore_index": -100, "label_smoothing": 0.0, "z_loss": 0.0}
    found = K.fused_linear_cross_entropy_backward(of_rows, x, weight, targets, of_rows, **by)
    assert (to_host(found[0]) == 0).all()
    yield


def refusals():
    x, targets = to_device(np.zeros((2, 8), np.float32)), to_device(np.zeros(2, np.int32))
    for options, text in (
        ({"label_smoothing": 1.5}, "label_smoothing: expected a number from 0 to 1, got 1.5"),
        ({"z_loss": -1.0}, "z_loss: expected a positive number, or 0 for none, got -1"),
    ):
        with pytest.raises(ValueError, match=re.escape(text)):
            K.fused_linear_cross_entropy(x, x, targets, **options)
        yield


def outside():
    """A target that isn't a class fails by name."""
    x = to_device(np.ones((1, 8), np.float32))
    with pytest.raises(Exception, match=failed_assertion("cross_entropy_target_is_a_class")):
        to_host(K.fused_linear_cross_entropy(x, x, to_device(np.array([1], np.int64))))
    yield


run(globals())
