"""group_norm against float64: groups, spatial dims, dtypes, layouts, and rows whose squares leave the range of a float."""

import numpy as np
import pytest
import torch
from arrays import DTYPES, assert_close, make
from reference import layer_norm, layer_norm_backward
from test_gradients import check

# The shape, and how many groups.
SHAPES = [((2, 6, 5), 3), ((3, 4), 2), ((1, 8, 7, 9), 1), ((2, 8, 3, 3), 8), ((4, 12, 40, 30), 4), ((1, 2, 1), 2)]


def in_groups(values, shape, groups):
    """A value per channel as rows beside those of x."""
    spread = np.broadcast_to(values.reshape(1, -1, *[1] * (len(shape) - 2)), shape)
    return spread.reshape(shape[0] * groups, -1)


def group_norm(x, weight, bias, groups, eps=1e-5):
    rows = layer_norm(x.reshape(x.shape[0] * groups, -1), in_groups(weight, x.shape, groups), 0.0, eps)
    return (rows + in_groups(bias, x.shape, groups)).reshape(x.shape)


def group_norm_backward(d_out, x, weight, groups, eps=1e-5):
    rows = x.reshape(x.shape[0] * groups, -1)
    d_x, *_ = layer_norm_backward(d_out.reshape(rows.shape), rows, in_groups(weight, x.shape, groups), eps)
    unit = layer_norm(rows, 1.0, 0.0, eps).reshape(x.shape)
    others = tuple(i for i in range(x.ndim) if i != 1)
    return d_x.reshape(x.shape), (d_out * unit).sum(others), d_out.sum(others)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "groups"), SHAPES, ids=str)
def test_values(k, shape, groups, dtype):
    rng = np.random.default_rng(1)
    x, x64 = make(rng.normal(2, 3, shape), dtype)
    (weight, w64), (bias, b64) = (make(rng.normal(size=shape[1]), dtype) for _ in "wb")
    assert_close(k.group_norm(x, weight, bias, groups=groups), group_norm(x64, w64, b64, groups), dtype)
    found = k.group_norm(x, weight, groups=groups, eps=0.5)
    assert_close(found, group_norm(x64, w64, 0 * b64, groups, 0.5), dtype)


@pytest.mark.parametrize(("shape", "groups"), [*SHAPES[:4], ((3, 4, 2), 2)], ids=str)
def test_gradient(k, shape, groups):
    rng = np.random.default_rng(2)
    x, d, weight = rng.normal(size=shape), rng.normal(size=shape), rng.normal(size=shape[1])
    found = k.group_norm_backward(d, x, weight, groups=groups, eps=1e-3)
    for a, b in zip(found, group_norm_backward(d, x, weight, groups, 1e-3), strict=True):
        check(a, b)


@pytest.mark.parametrize("weight_dtype", [torch.float32, torch.bfloat16], ids=str)
def test_it_is_torchs(k, weight_dtype):
    x = torch.randn(2, 8, 5, 6, requires_grad=True)
    weight, bias = (torch.randn(8).to(weight_dtype).requires_grad_() for _ in "wb")
    d = torch.randn(x.shape)
    found = torch.autograd.grad(k.group_norm(x, weight, bias, groups=4), (x, weight, bias), d)
    theirs = torch.nn.functional.group_norm(x, 4, weight.float(), bias.float())
    tolerance = 1e-5 if weight_dtype == torch.float32 else 3e-2
    for a, b in zip(found, torch.autograd.grad(theirs, (x, weight, bias), d), strict=True):
        torch.testing.assert_close(a, b, atol=tolerance, rtol=tolerance)


def test_channels_last(k):
    x = torch.randn(2, 8, 5, 6).to(memory_format=torch.channels_last)
    weight = torch.randn(8)
    assert torch.equal(k.group_norm(x, weight, groups=2), k.group_norm(x.contiguous(), weight, groups=2))


@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_squares_that_leave_the_range_of_a_float(k, scale):
    rng = np.random.default_rng(5)
    x, weight, d = (rng.normal(size=size).astype(np.float32) for size in ((2, 6, 7), 6, (2, 6, 7)))
    x = (x * scale).astype(np.float32)
    wide = x.astype(np.float64)
    assert_close(k.group_norm(x, weight, groups=3, eps=0.0), group_norm(wide, weight, 0 * weight, 3, 0.0), "f32")
    found = k.group_norm_backward(d, x, weight, groups=3, eps=0.0)
    for a, b in zip(found, group_norm_backward(d.astype(float), wide, weight, 3, 0.0), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=2e-6 * np.abs(b).max())


def test_what_is_not_finite_stays_in_its_group(k):
    x, weight = np.random.default_rng(6).normal(size=(2, 4, 5)).astype(np.float32), np.ones(4, np.float32)
    for value in (np.nan, np.inf):
        given = x.copy()
        given[1, 2, 3] = value
        for out in (
            k.group_norm(given, weight, groups=2),
            k.group_norm_backward(x, given, weight, groups=2, eps=0.1)[0],
        ):
            assert np.isnan(out[1, 2:]).all()
            assert np.isfinite(out[0]).all()
            assert np.isfinite(out[1, :2]).all()


def test_the_same_bits_on_any_number_of_threads(k):
    before, found = torch.get_num_threads(), set()
    x, d, weight = torch.randn(6, 32, 20, 21), torch.randn(6, 32, 20, 21), torch.randn(32)
    try:
        for threads in (1, 2, 8):
            torch.set_num_threads(threads)
            results = k.group_norm(x, weight, groups=8), *k.group_norm_backward(d, x, weight, groups=8, eps=1e-5)
            found.add(b"".join(r.numpy().tobytes() for r in results))
    finally:
        torch.set_num_threads(before)
    assert len(found) == 1


def test_empty_and_refused(k):
    weight = np.ones(4, np.float32)
    for shape in ((0, 4, 3), (2, 4, 0)):
        x = np.zeros(shape, np.float32)
        assert k.group_norm(x, weight, groups=2).shape == shape
        d_x, d_weight, d_bias = k.group_norm_backward(x, x, weight, groups=2, eps=0.1)
        assert d_x.shape == shape
        assert not d_weight.any()
        assert not d_bias.any()
    for groups in (0, 3):
        with pytest.raises(ValueError, match="group_norm: expected"):
            k.group_norm(np.zeros((2, 4, 3), np.float32), weight, groups=groups)
