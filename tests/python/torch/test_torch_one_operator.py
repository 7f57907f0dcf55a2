"""Each function is one operator, and it differentiates wherever torch comes to it: by name, in transforms, in graphs, from files."""

from __future__ import annotations

import io

import kernpack.torch
import pytest
import torch
from kernpack.torch import _registry
from torch.func import grad, jacrev, vjp, vmap


@pytest.fixture
def ops(k):
    return getattr(torch.ops, kernpack.torch.ops(k).namespace)


@pytest.fixture(params=["packet", "default", "call"])
def cube(request, k, ops):
    return {"packet": ops.cube, "default": ops.cube.default, "call": k.cube}[request.param]


def test_its_overloads(ops):
    """The one that programs use where tensors share memory that is written is there for each that writes."""
    assert ops.cube.overloads() == ["default", "out", "out_aliased"]
    assert ops.bump.overloads() == ["default", "aliased"]


def test_there_is_one_object(k, ops):
    """DTensor's rules and tags hang on the object that torch finds."""
    for name in ("scale", "cube"):
        assert kernpack.torch.ops(k).function(name).op is getattr(ops, name).default


def test_gradients_of_both_orders_agree_with_differences(cube):
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(cube, (x,))
    assert torch.autograd.gradgradcheck(cube, (x,))


def test_transforms_of_torch_func_agree_with_the_formula(cube):
    x = torch.randn(3, 4, dtype=torch.float64)
    expected = 3 * x * x
    torch.testing.assert_close(grad(lambda v: cube(v).sum())(x), expected)
    torch.testing.assert_close(vmap(grad(lambda v: cube(v).sum()))(x), expected)
    torch.testing.assert_close(grad(lambda v: vmap(cube)(v).sum())(x), expected)
    torch.testing.assert_close(vjp(cube, x)[1](torch.ones_like(x))[0], expected)
    torch.testing.assert_close(jacrev(cube)(x[0]), torch.diag(expected[0]))
    torch.testing.assert_close(grad(lambda y: grad(lambda v: cube(v).sum())(y).sum())(x), 6 * x)


def test_results_that_the_caller_does_not_see(ops):
    x = torch.tensor([3.0], requires_grad=True)
    out, twice = ops.square.default(x)
    assert twice.tolist() == [6]
    out.backward()
    assert x.grad.tolist() == [6]


def test_compile_keeps_the_gradient(cube):
    torch._dynamo.reset()
    x = torch.randn(3, requires_grad=True)
    step = torch.compile(lambda v: cube(v * 2).sum(), fullgraph=True, backend="aot_eager")
    (found,) = torch.autograd.grad(step(x), x)
    torch.testing.assert_close(found, 24 * x.detach() ** 2)


def test_aot_function(cube):
    from functorch.compile import aot_function, nop

    x = torch.randn(3, requires_grad=True)
    aot_function(lambda v: cube(v * 2).sum(), nop)(x).backward()
    torch.testing.assert_close(x.grad, 24 * x.detach() ** 2)


def test_checkpointing_keeps_the_gradient(cube):
    from torch.utils.checkpoint import checkpoint

    for reentrant in (False, True):
        x = torch.randn(3, requires_grad=True)
        checkpoint(lambda v: cube(v * 2), x, use_reentrant=reentrant).sum().backward()
        torch.testing.assert_close(x.grad, 24 * x.detach() ** 2)


class Net(torch.nn.Module):
    def __init__(self, op):
        super().__init__()
        self.op = op
        self.before = torch.nn.Linear(4, 4)
        self.after = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.after(self.op(self.before(x)))


def trained(net, rows) -> list[torch.Tensor]:
    rate = 0.01
    for _ in range(2):
        loss = net(rows).square().mean()
        for weight, d in zip(net.parameters(), torch.autograd.grad(loss, list(net.parameters())), strict=True):
            weight.data -= rate * d
    return [weight.detach() for weight in net.parameters()]


@pytest.mark.parametrize("saved", [False, True])
def test_exported_programs_train(cube, ops, saved):
    rows = torch.randn(5, 4)
    ours, theirs = Net(cube), Net(lambda v: v**3)
    theirs.load_state_dict(ours.state_dict())
    program = torch.export.export(ours, (rows,)).run_decompositions()
    if saved:
        file = io.BytesIO()
        torch.export.save(program, file)
        file.seek(0)
        program = torch.export.load(file)
    assert ops.cube.default in {node.target for node in program.graph.nodes}
    for found, expected in zip(trained(program.module(), rows), trained(theirs, rows), strict=True):
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("how", ["packet", "default"])
def test_what_has_no_gradient_refuses(ops, how):
    op = ops.plain if how == "packet" else ops.plain.default
    live = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"^plain: an argument requires a gradient, but torch_tests declares none"):
        op(live)
    with pytest.raises(RuntimeError, match="declares none for plain"):
        grad(lambda v: op(v).sum())(torch.ones(3))
    with pytest.raises(RuntimeError, match="declares none for bump"):
        ops.bump(live * 1)
    with torch.no_grad():
        assert op(live).tolist() == [2, 2, 2]


def test_destinations_refuse(ops):
    x = torch.ones(3)
    for given, out in ((x.clone().requires_grad_(), x * 1), (x, torch.empty(3, requires_grad=True))):
        with pytest.raises(RuntimeError, match=r"^cube: out: destinations cannot take part in a gradient"):
            ops.cube.out(given, out=out)


def test_second_order_refuses_for_every_argument(k, ops):
    """Neither None nor zero, whichever of the backward op's arguments is asked about."""
    x, d = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    twice = torch.full((3,), 2.0, requires_grad=True)
    first = ops.square_backward(d, twice)
    for about in (d, twice):
        with pytest.raises(RuntimeError, match=r"^square_backward: its result was differentiated"):
            torch.autograd.grad(first.sum(), about, allow_unused=True, retain_graph=True)
    (first,) = torch.autograd.grad(k.square(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"^square_backward: its result was differentiated"):
        first.sum().backward()
    torch.testing.assert_close(grad(lambda v: k.square(v).sum())(x.detach()), 2 * x.detach())
    with pytest.raises(RuntimeError, match=r"square_backward: its result was differentiated"):
        grad(lambda v: grad(lambda u: k.square(u).sum())(v).sum())(x.detach())


def test_opcheck_passes_for_every_operator(ops):
    x = torch.randn(3, requires_grad=True)
    for op, args, kwargs in (
        (ops.cube, (x,), {}),
        (ops.square, (x.detach(),), {}),
        (ops.scale, (x.detach(),), {"f": 2.0}),
    ):
        torch.library.opcheck(op.default, args, kwargs)


def test_a_keyword_that_names_a_destination_chooses_the_overload_out(ops):
    x, out = torch.tensor([2.0]), torch.zeros(1)
    assert ops.cube(x, out=out) is None
    assert out.tolist() == [8]
    assert ops.scale(x, f=3.0).tolist() == [6]
    assert isinstance(ops.cube, torch._ops.OpOverloadPacket)


STRANGE = {
    "sparse": (lambda x: x.to_sparse(), r"a sparse one \(torch.sparse_coo\): pass x.to_dense\(\)"),
    "sparse_csr": (lambda x: x.to_sparse_csr(), r"a sparse one \(torch.sparse_csr\): pass x.to_dense\(\)"),
    "quantized": (lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8), "a quantized one"),
    "nested": (lambda x: torch.nested.nested_tensor([x[0], x[1]]), r"a nested one \(torch.strided\)"),
    "jagged": (
        lambda x: torch.nested.nested_tensor([x[0], x[1]], layout=torch.jagged),
        r"a nested one \(torch.jagged\)",
    ),
    "mkldnn": (lambda x: x.to_mkldnn(), "one of another layout"),
}


@pytest.mark.filterwarnings(
    "ignore:torch.quantize_per_tensor", "ignore:The PyTorch API of nested tensors", "ignore:Sparse"
)
@pytest.mark.parametrize("kind", STRANGE)
def test_strange_tensors_are_refused_before_torch_prints_its_table(k, ops, kind: str) -> None:
    """torch's own error for these has 6,000 characters and names no argument."""
    make, got = STRANGE[kind]
    x, strange = torch.ones(2, 3), make(torch.ones(2, 3))
    by_dispatcher = _registry.of(k.scale).dispatch  # as without hooks, and from C++
    calls = [
        ("x", lambda: ops.scale.default(strange)),
        ("x", lambda: by_dispatcher(strange)),
        ("out", lambda: ops.scale.out(x, out=strange)),
    ]
    if kind != "jagged":  # a class in Python, which answers by itself where autograd is left out
        calls.append(("x", lambda: _in_inference_mode(by_dispatcher, strange)))
    for argument, call in calls:
        with pytest.raises(TypeError, match=f"^scale: {argument}: expected an ordinary dense tensor, got {got}"):
            call()


def _in_inference_mode(op, x):
    with torch.inference_mode():
        return op(x)
