"""rope and add_rms_norm against float64, with their gradients."""

import numpy as np
import pytest
import torch
from arrays import DTYPES, assert_close, get_values, make
from reference import rms_norm, rope
from test_gradients import check, slope

RNG = np.random.default_rng(0)


def angles(*shape):
    a = RNG.normal(size=shape)
    return np.cos(a).astype(np.float32), np.sin(a).astype(np.float32)


def torch_if(array, dtype):
    return torch.from_numpy(array) if dtype == "bf16" else array


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize(("pairs", "width"), [(1, 2), (9, 24), (16, 32), (20, 41), (0, 3)])
def test_rope(k, dtype, interleaved, pairs, width):
    x, x64 = make(RNG.normal(size=(2, 5, 3, width)), dtype)
    for batch in (1, 2):
        cos, sin = angles(batch, 5, pairs)
        expected = rope(x64, cos.astype(float), sin.astype(float), interleaved)
        given = torch_if(cos, dtype), torch_if(sin, dtype)
        found = k.rope(x, *given, interleaved=interleaved)
        assert_close(found, expected, dtype)
        in_place = x.clone() if dtype == "bf16" else x.copy()
        k.apply_rope(in_place, *given, interleaved=interleaved)
        np.testing.assert_array_equal(get_values(in_place), get_values(found))


@pytest.mark.parametrize("interleaved", [False, True])
def test_rope_strided(k, interleaved):
    whole, (cos, sin) = RNG.normal(size=(7, 6, 32)).astype(np.float32), angles(7, 4)
    for part in (whole[:, :4], whole[:, :, ::2], whole[:, 1:5, 3:20]):
        expected = k.rope(np.ascontiguousarray(part), cos, sin, interleaved=interleaved)
        np.testing.assert_array_equal(k.rope(part, cos, sin, interleaved=interleaved), expected)
    rest = whole.copy()
    k.apply_rope(whole[:, :4, ::2], cos, sin, interleaved=interleaved)
    np.testing.assert_array_equal(
        whole[:, :4, ::2], k.rope(rest[:, :4, ::2], cos, sin, interleaved=interleaved), "rotated in place"
    )
    np.testing.assert_array_equal(whole[:, 4:], rest[:, 4:], "beside it")
    np.testing.assert_array_equal(whole[:, :4, 1::2], rest[:, :4, 1::2], "between it")


@pytest.mark.parametrize("interleaved", [False, True])
def test_rope_gradient(k, interleaved):
    x, d, (cos, sin) = RNG.normal(size=(3, 2, 10)), RNG.normal(size=(3, 2, 10)), angles(3, 4)
    wide = cos.astype(float), sin.astype(float)
    check(k.rope_backward(d, cos, sin, interleaved=interleaved), slope(lambda v: rope(v, *wide, interleaved), x, d))
    check(k.rope_jvp(d, cos, sin, interleaved=interleaved), rope(d, *wide, interleaved))


def test_rope_refuses_more_pairs_than_there_are(k):
    with pytest.raises(ValueError, match=r"rope: expected 2 \* R <= D"):
        k.rope(np.zeros((3, 2, 6), np.float32), *angles(3, 4))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 16, 37])
def test_add_rms_norm(k, dtype, width):
    (x, x64), (r, r64) = (make(RNG.normal(size=(4, 3, width)), dtype) for _ in "xr")
    weight, w64 = make(RNG.normal(size=width), dtype)
    out, total = k.add_rms_norm(x, r, weight)
    assert_close(total, x64 + r64, dtype)
    assert_close(out, rms_norm(get_values(total), w64), dtype)


def test_add_rms_norm_gradient(k):
    x, r, d_out, d_sum = (RNG.normal(size=(3, 9)) for _ in range(4))
    weight = RNG.normal(size=9)
    d_x, d_r, d_weight = k.add_rms_norm_backward(d_out, d_sum, x + r, weight, eps=1e-6)
    check(d_x, slope(lambda v: rms_norm(v + r, weight), x, d_out) + d_sum)
    np.testing.assert_array_equal(d_x, d_r)
    check(d_weight, slope(lambda w: rms_norm(x + r, w), weight, d_out))


def test_gradients_arrive_in_torch(k):
    x, r = (torch.randn(4, 8, dtype=torch.float64, requires_grad=True) for _ in range(2))
    weight = torch.randn(8, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda a, b, w: k.add_rms_norm(a, b, w), (x, r, weight))
    cos, sin = (torch.from_numpy(a) for a in angles(4, 3))
    assert torch.autograd.gradcheck(lambda a: k.rope(a.reshape(4, 1, 8), cos, sin, interleaved=True), (x,))
    assert torch.autograd.gradgradcheck(lambda a: k.rope(a.reshape(4, 1, 8), cos, sin), (x,))
