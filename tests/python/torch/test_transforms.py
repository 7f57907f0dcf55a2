"""torch.func: vmap, grad, vjp and their compositions."""

from __future__ import annotations

import pytest
import torch
from recorder import Recorder
from torch.func import grad, jacrev, vjp, vmap


def loop(function, *arguments):
    return torch.stack([function(*rows) for rows in zip(*arguments, strict=True)])


def test_batch_dims_are_merged(kernels):
    x, w = torch.randn(5, 3, 8), torch.randn(8)
    calls = Recorder()
    with calls:
        got = vmap(kernels.rms_norm, in_dims=(0, None))(x, w)
    torch.testing.assert_close(got, kernels.rms_norm(x, w))
    assert calls.seen.count("kernpack_kernels.rms_norm.default") == 1


def test_any_dim(kernels):
    x = torch.randn(3, 5, 8)
    torch.testing.assert_close(vmap(kernels.gelu, in_dims=1, out_dims=1)(x), kernels.gelu(x))


def test_batched_weights_are_one_call_an_item(kernels):
    x, w = torch.randn(5, 3, 8), torch.randn(5, 8)
    torch.testing.assert_close(vmap(kernels.rms_norm)(x, w), loop(kernels.rms_norm, x, w))


def test_masks_broadcast(kernels):
    x, mask = torch.randn(5, 3, 8), torch.rand(1, 8) > 0.5
    torch.testing.assert_close(
        vmap(kernels.softmax, in_dims=(0, None))(x, mask), loop(lambda v: kernels.softmax(v, mask), x)
    )


def test_vmap_of_vmap_batches_twice(kernels):
    x, w = torch.randn(2, 5, 3, 8), torch.randn(8)
    got = vmap(vmap(kernels.rms_norm, in_dims=(0, None)), in_dims=(0, None))(x, w)
    torch.testing.assert_close(got, kernels.rms_norm(x, w))


def test_no_batch_dims_in_the_signature(k):
    x = torch.randn(5, 4)
    torch.testing.assert_close(vmap(k.where_add)(x, x), x + x)
    torch.testing.assert_close(vmap(lambda a, b: k.total([a, b]), in_dims=(0, None))(x, x[0]), x + x[0])


def test_vmap_writes_to_the_batched_tensor(k):
    x = torch.zeros(3, 4)
    vmap(lambda v: (k.bump(v), v)[1])(x)
    assert (x == 1).all()
    y = torch.zeros(4, 3)
    vmap(lambda v: (k.bump(v), v)[1], in_dims=1)(y)
    assert (y == 1).all()


def test_grad_agrees_with_autograd(kernels):
    x, w = torch.randn(3, 8), torch.randn(8)
    got = grad(lambda a, b: kernels.rms_norm(a, b).square().sum(), argnums=(0, 1))(x, w)
    xs, ws = x.clone().requires_grad_(), w.clone().requires_grad_()
    expected = torch.autograd.grad(kernels.rms_norm(xs, ws).square().sum(), (xs, ws))
    for a, e in zip(got, expected, strict=True):
        torch.testing.assert_close(a, e)


def test_grad_of_vmap_and_vmap_of_grad(kernels):
    x, w = torch.randn(5, 8, dtype=torch.float64), torch.randn(8, dtype=torch.float64)

    def loss(a, b):
        return kernels.rms_norm(a, b).square().sum()

    outer = grad(lambda a: vmap(loss, in_dims=(0, None))(a, w).sum())(x)
    inner = vmap(grad(loss), in_dims=(0, None))(x, w)
    torch.testing.assert_close(outer, inner)
    per_sample = vmap(grad(loss, argnums=1), in_dims=(0, None))(x, w)
    assert per_sample.shape == (5, 8)
    torch.testing.assert_close(per_sample.sum(0), grad(lambda b: vmap(loss, in_dims=(0, None))(x, b).sum())(w))


def test_vjp_and_jacrev(kernels):
    x = torch.randn(4, dtype=torch.float64)
    _, pull = vjp(kernels.softmax, x)
    torch.testing.assert_close(pull(torch.ones(4, dtype=torch.float64))[0], torch.zeros(4, dtype=torch.float64))
    torch.testing.assert_close(jacrev(kernels.softmax)(x), jacrev(lambda v: v.softmax(-1))(x))


def test_grad_of_grad(k):
    x = torch.tensor(2.0, dtype=torch.float64)
    torch.testing.assert_close(grad(grad(lambda v: k.cube(v)))(x), torch.tensor(12.0, dtype=torch.float64))


def test_forward_mode_is_a_clear_error(k):
    with pytest.raises(RuntimeError, match=r"^scale: .*forward mode"):
        torch.func.jvp(k.scale, (torch.randn(3),), (torch.randn(3),))


def test_tensors_passed_by_keyword(k):
    """torch batches no operator with keyword-only tensors: in the operator's schema they are not."""
    x, w = torch.randn(4, 5, dtype=torch.float64), torch.randn(4, 5, dtype=torch.float64)
    op = torch.ops.kernpack_torch_tests.scale_by
    assert str(op.default._schema).endswith("scale_by(Tensor x, float factor, Tensor w) -> Tensor")
    torch.testing.assert_close(op(x, w=w, factor=3.0), 3 * x * w)
    torch.testing.assert_close(torch.func.vmap(lambda a, b: k.scale_by(a, w=b))(x, w), 2 * x * w)
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(lambda a, b: k.scale_by(a, w=b).sum()))(x, w), 2 * w)
    assert torch.autograd.gradcheck(lambda a, b: k.scale_by(a, w=b), (x.requires_grad_(), w.requires_grad_()))
    torch._dynamo.reset()
    step = torch.compile(lambda a, b: k.scale_by(a, w=b, factor=0.5), fullgraph=True, backend="aot_eager")
    step(x, w).sum().backward()
    torch.testing.assert_close(w.grad, 0.5 * x.detach())
