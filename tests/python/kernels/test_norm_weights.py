"""Norms whose weight has another dtype than x, as under autocast, and whose x is part of a larger tensor."""

import numpy as np
import pytest
import torch
from reference import layer_norm, layer_norm_backward, rms_norm, rms_norm_backward

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
TOLERANCE = {torch.float32: 2e-6, torch.float64: 1e-14, torch.float16: 1.5e-3, torch.bfloat16: 1e-2}
NORMS = {"layer_norm": (layer_norm, layer_norm_backward), "rms_norm": (rms_norm, rms_norm_backward)}


def wide(tensor):
    return tensor.double().numpy()


def near(found, expected, *dtypes):
    """Within the tolerance of the coarsest of the dtypes."""
    tolerance = max(TOLERANCE[dtype] for dtype in dtypes)
    np.testing.assert_allclose(wide(found), expected, rtol=0, atol=tolerance * max(1, np.abs(expected).max()))


def inputs(x_dtype, weight_dtype, width=37):
    torch.manual_seed(0)
    return torch.randn(5, 3, width).to(x_dtype), torch.randn(width).to(weight_dtype)


@pytest.mark.parametrize("weight_dtype", DTYPES, ids=str)
@pytest.mark.parametrize("x_dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", NORMS)
def test_weights_of_another_dtype(k, name, x_dtype, weight_dtype):
    (x, weight), (forward, backward) = inputs(x_dtype, weight_dtype), NORMS[name]
    eps = 1e-5
    found = getattr(k, name)(x, weight, eps=eps)
    assert found.dtype == x_dtype
    near(found, forward(wide(x), wide(weight), eps=eps), x_dtype)
    d = torch.randn(x.shape).to(x_dtype)
    d_x, d_weight, *_ = getattr(k, f"{name}_backward")(d, x, weight, eps=eps)
    assert (d_x.dtype, d_weight.dtype) == (x_dtype, weight_dtype)
    of_x, of_weight, *_ = backward(wide(d), wide(x), wide(weight), eps)
    near(d_x, of_x, x_dtype)
    sums = torch.float64 if x_dtype == torch.float64 else torch.float32  # what gradients of weights are added up in
    near(d_weight, of_weight, weight_dtype, sums)


@pytest.mark.parametrize("weight_dtype", DTYPES, ids=str)
def test_added_residuals(k, weight_dtype):
    x, weight = inputs(torch.bfloat16, weight_dtype)
    bias, residual = torch.randn(37).to(weight_dtype), torch.randn(x.shape).bfloat16()
    out, total = k.add_layer_norm(x, residual, weight, bias)
    assert torch.equal(total, x + residual)
    near(out, layer_norm(wide(total), wide(weight), wide(bias)), torch.bfloat16)
    out, total = k.add_rms_norm(x, residual, weight)
    near(out, rms_norm(wide(total), wide(weight)), torch.bfloat16)


def test_add_layer_norm_gradient(k):
    """Against torch, all four."""
    given = [torch.randn(size, dtype=torch.float64, requires_grad=True) for size in ((4, 6, 9), (4, 6, 9), (9,), (9,))]
    d_out, d_sum = torch.randn(2, 4, 6, 9, dtype=torch.float64)

    def theirs(x, residual, weight, bias):
        return torch.nn.functional.layer_norm(x + residual, (9,), weight, bias), x + residual

    for bias in (True, False):
        leaves = given if bias else given[:3]
        found = torch.autograd.grad(k.add_layer_norm(*leaves), leaves, (d_out, d_sum))
        expected = torch.autograd.grad(theirs(*given), leaves, (d_out, d_sum)) if bias else None
        if not bias:
            expected = torch.autograd.grad(theirs(*leaves, None), leaves, (d_out, d_sum))
        for a, b in zip(found, expected, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NORMS)
def test_heads_of_a_larger_tensor(k, name):
    """qk-norm: the heads of a product that is q, k and v, and other views."""
    torch.manual_seed(1)
    qkv, weight = torch.randn(2, 5, 3, 4, 16), torch.randn(16)
    op, backward = getattr(k, name), getattr(k, f"{name}_backward")
    for part in (qkv[:, :, 1], qkv[:, :, 0].transpose(1, 2), qkv[..., ::2], qkv[:, 1:2].expand(2, 3, 3, 4, 16), qkv.mT):
        weight = torch.randn(part.shape[-1])
        copy = part.contiguous()
        assert torch.equal(op(part, weight), op(copy, weight))
        d = torch.randn(part.shape)
        for a, b in zip(backward(d, part, weight, eps=1e-6), backward(d, copy, weight, eps=1e-6), strict=True):
            torch.testing.assert_close(a, b)


@pytest.mark.parametrize("name", NORMS)
def test_derivatives_of_views(k, name):
    whole = torch.randn(3, 2, 12, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(4, dtype=torch.float64, requires_grad=True)

    def of_view(x, weight):
        return getattr(k, name)(x[..., 4:8].transpose(0, 1), weight)

    assert torch.autograd.gradcheck(of_view, (whole, weight), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(of_view, (whole, weight))


@pytest.mark.parametrize("name", NORMS)
def test_second_order_with_weights_of_another_dtype(k, name):
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(4, requires_grad=True)  # f32

    def derivatives(op, weight):
        (d_x,) = torch.autograd.grad(op(x, weight).square().sum(), x, create_graph=True)
        return torch.autograd.grad(d_x.square().sum(), (x, weight))

    found = derivatives(getattr(k, name), weight)
    expected = derivatives(getattr(k, name), weight.detach().double().requires_grad_())
    assert found[1].dtype == torch.float32
    torch.testing.assert_close(found[0], expected[0])
    torch.testing.assert_close(found[1], expected[1].float())


def test_autocast(k):
    """Linear -> LayerNorm -> GELU: the weights of the norm stay f32."""
    torch.manual_seed(0)
    linear, norm = torch.nn.Linear(16, 32), torch.nn.LayerNorm(32)
    x = torch.randn(4, 16)
    with torch.autocast("cpu", torch.bfloat16):
        hidden = linear(x)
        out = k.gelu(k.layer_norm(hidden, norm.weight, norm.bias))
        assert hidden.dtype == out.dtype == torch.bfloat16
        expected = torch.nn.functional.gelu(norm(hidden.float()))
    torch.testing.assert_close(out.float(), expected.float(), atol=3e-2, rtol=3e-2)
    out.float().sum().backward()
    assert norm.weight.grad.dtype == torch.float32
    assert linear.weight.grad.abs().sum() > 0
