"""torch.func inside torch.compile: while a graph is made, tensors do not say who differentiates them."""

from __future__ import annotations

import pytest
import torch
from torch.func import grad, vmap


def compositions(gelu, cube):
    return {
        "vmap": lambda x: vmap(lambda v: gelu(v))(x),
        "grad": lambda x: grad(lambda v: gelu(v).sum())(x),
        "vmap of grad": lambda x: vmap(grad(lambda v: gelu(v).sum()))(x),
        "grad of vmap": lambda x: grad(lambda v: vmap(lambda u: gelu(u))(v).sum())(x),
        "grad of grad": lambda x: grad(lambda y: grad(lambda v: cube(v).sum())(y).sum())(x),
        "outer grad": lambda x: grad(lambda y: grad(lambda v: (cube(y) * v).sum())(y).sum())(x),
        "vmap of vmap": lambda x: vmap(lambda row: vmap(lambda v: gelu(v))(row[:, None]))(x),
    }


EXPECTED = compositions(torch.nn.functional.gelu, lambda v: v**3)


@pytest.fixture(params=["k", "operator"])
def ours(request, kernels, k):
    if request.param == "k":
        return compositions(kernels.gelu, k.cube)
    return compositions(torch.ops.kernpack_kernels.gelu.default, torch.ops.kernpack_torch_tests.cube.default)


@pytest.mark.parametrize("name", EXPECTED)
def test_same_as_eager(ours, name):
    x = torch.randn(3, 4, dtype=torch.float64)
    expected = EXPECTED[name](x)
    torch.testing.assert_close(ours[name](x), expected)
    torch._dynamo.reset()
    compiled = torch.compile(ours[name], fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), expected)


def test_autograd_outside(ours):
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    torch._dynamo.reset()
    torch.compile(ours["vmap"], fullgraph=True, backend="aot_eager")(x).square().sum().backward()
    y = x.detach().clone().requires_grad_()
    EXPECTED["vmap"](y).square().sum().backward()
    torch.testing.assert_close(x.grad, y.grad)


@pytest.mark.parametrize("name", ["grad", "outer grad"])
def test_a_missing_gradient_is_an_error_not_a_zero(k, name):
    torch._dynamo.reset()
    run = compositions(k.plain, k.plain)[name]
    with pytest.raises(Exception, match="declares none for plain"):
        torch.compile(run, fullgraph=True, backend="aot_eager")(torch.ones(3))
