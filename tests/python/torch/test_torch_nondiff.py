"""nondiff(x): no gradient flows to x, and whoever asks for one is told so."""

from __future__ import annotations

import pytest
import torch
from torch.func import grad

MESSAGE = (
    r"weighted: by: requires a gradient, but torch_tests declares that none flows to it \(nondiff\(by\)\): "
    r"pass by.detach\(\), or call weighted under torch.no_grad\(\)"
)


@pytest.fixture(params=["call", "operator"])
def weighted(request, k):
    return k.weighted if request.param == "call" else torch.ops.kernpack_torch_tests.weighted.default


class Net(torch.nn.Module):
    def __init__(self, op):
        super().__init__()
        self.op = op
        self.by = torch.nn.Parameter(torch.full((3,), 2.0))

    def forward(self, x):
        return self.op(x, self.by)


@pytest.mark.parametrize("x_too", [False, True])
def test_a_gradient_through_a_nondiff_argument_is_refused(weighted, x_too):
    x, by = torch.ones(3, requires_grad=x_too), torch.full((3,), 2.0, requires_grad=True)
    with pytest.raises(RuntimeError, match=f"^{MESSAGE}$"):
        weighted(x, by)
    assert weighted(x, by.detach()).requires_grad == x_too
    with torch.no_grad():
        assert weighted(x, by).tolist() == [2, 2, 2]


def test_transforms_refuse_a_gradient_through_a_nondiff_argument(weighted):
    x, by = torch.ones(3), torch.full((3,), 2.0)
    with pytest.raises(RuntimeError, match=MESSAGE):
        grad(lambda b: weighted(x, b).sum())(by)
    with pytest.raises(RuntimeError, match=MESSAGE):
        torch.vmap(grad(lambda b: weighted(x, b).sum()))(by.expand(2, 3))
    torch.testing.assert_close(grad(lambda v: weighted(v, by).sum())(x), by)
    torch.testing.assert_close(grad(lambda b: weighted(b, b.detach()).sum())(by), by)


def test_compiled_and_exported(weighted):
    net, x = Net(weighted), torch.ones(3)
    torch._dynamo.reset()
    with pytest.raises(Exception, match=MESSAGE):
        torch.compile(net, fullgraph=True, backend="aot_eager")(x)
    for strict in (False, True):
        with pytest.raises(Exception, match=MESSAGE):
            torch.export.export(net, (x,), strict=strict).run_decompositions().module()(x)
    with torch.no_grad():
        assert torch.export.export(net, (x,)).module()(x).tolist() == [2, 2, 2]
