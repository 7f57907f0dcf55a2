"""Autograd from KP_GRAD."""

from __future__ import annotations

import gc
import weakref

import kernpack
import kernpack.torch
import pytest
import torch
from support.row_activations import ROW_ACTIVATIONS
from torch.autograd import gradcheck, gradgradcheck


def leaf(*shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


MASK = torch.tensor([[True, False, True, True], [False, False, False, False]])
TURNS = torch.arange(6.0).reshape(3, 2)
CASES = {
    "layer_norm": lambda k: (lambda x, w, b: k.layer_norm(x, w, b), (leaf(3, 5), leaf(5), leaf(5))),
    "layer_norm without bias": lambda k: (lambda x, w: k.layer_norm(x, w), (leaf(2, 3, 5), leaf(5))),
    "rms_norm": lambda k: (lambda x, w: k.rms_norm(x, w, eps=1e-3), (leaf(3, 5), leaf(5))),
    "softmax": lambda k: (lambda x: k.softmax(x), (leaf(3, 5),)),
    "softmax with mask": lambda k: (lambda x: k.softmax(x, torch.ones(1, 5, dtype=torch.bool)), (leaf(3, 5),)),
    "softmax with bias": lambda k: (lambda x, m: k.softmax(x, m), (leaf(3, 5), leaf(1, 5))),
    "gelu": lambda k: (lambda x: k.gelu(x), (leaf(7),)),
    "gelu tanh": lambda k: (lambda x: k.gelu(x, approximate="tanh"), (leaf(7),)),
    "l2_normalize": lambda k: (lambda x: k.l2_normalize(x), (leaf(3, 5),)),
    "mean_pool": lambda k: (lambda x: k.mean_pool(x, MASK), (leaf(2, 4, 3),)),
    "add_rms_norm": lambda k: (lambda x, r, w: k.add_rms_norm(x, r, w, eps=1e-3), (leaf(3, 5), leaf(3, 5), leaf(5))),
    "add_layer_norm": lambda k: (k.add_layer_norm, (leaf(3, 5), leaf(3, 5), leaf(5), leaf(5))),
    "group_norm": lambda k: (lambda *a: k.group_norm(*a, groups=2), (leaf(3, 4, 2), leaf(4), leaf(4))),
    "linear": lambda k: (lambda x, w, b: k.linear(x, w, b, activation="silu"), (leaf(3, 5), leaf(4, 5), leaf(4))),
    "swiglu": lambda k: (k.swiglu, (leaf(3, 5), leaf(3, 5))),
    "geglu": lambda k: (lambda g, u: k.geglu(g, u, approximate="tanh"), (leaf(3, 5), leaf(3, 5))),
    **{name: lambda k, name=name: (getattr(k, name), (leaf(3, 5),)) for name in ROW_ACTIVATIONS},
    "rope": lambda k: (lambda x: k.rope(x, TURNS.cos(), TURNS.sin()), (leaf(3, 2, 6),)),
    "cumsum": lambda k: (lambda x: k.cumsum(x, reverse=True), (leaf(3, 5),)),
    "segment_sum": lambda k: (lambda x: k.segment_sum(x, torch.tensor([0, 2, 2])), (leaf(5, 3),)),
    "scatter_sum": lambda k: (lambda x: k.scatter_sum(x, torch.tensor([2, 0, 2, 0, 2]), rows=4), (leaf(5, 3),)),
    "softmax_columns": lambda k: (k.softmax_columns, (leaf(2, 4, 3),)),
    "embedding_bag": lambda k: (
        lambda t, w: k.embedding_bag(t, torch.tensor([4, 0, 4, 1]), torch.tensor([0, 3, 3]), w, padding_idx=1),
        (leaf(5, 3), leaf(4)),
    ),
    "embedding_bag mean": lambda k: (
        lambda t: k.embedding_bag(t, torch.tensor([4, 0, 4, 1]), torch.tensor([0, 3]), mode="mean"),
        (leaf(5, 3),),
    ),
    "embedding_bag max": lambda k: (
        lambda t: k.embedding_bag(t, torch.tensor([4, 0, 4, 1]), torch.tensor([0, 3]), mode="max"),
        (leaf(5, 3),),
    ),
    "causal_conv1d": lambda k: (
        lambda *a: k.causal_conv1d(*a, activation="silu"),
        (leaf(2, 5, 3), leaf(3, 4), leaf(3), leaf(2, 3, 3)),
    ),
    "embedding": lambda k: (lambda t: k.embedding(t, torch.tensor([[4, 0], [4, 1]])), (leaf(5, 3),)),
}
FIRST_ORDER = {
    "add_layer_norm",
    "add_rms_norm",
    "causal_conv1d",
    "embedding_bag",
    "geglu",
    "group_norm",
    "linear",
    "swiglu",
    *ROW_ACTIVATIONS,
}  # they declare a gradient, no forward mode and no gradient of it
# They have no float64: tests/python/kernels holds their gradients against float64 formulas.
SINGLE = {
    "attention",
    "cross_entropy",
    "fused_linear_cross_entropy",
    "grouped_linear",
    "masked_attention",
    "topk",
    "varlen_attention",
}
# Forward mode of their backward ops takes an argument that the second-order ops are not given.
LESS_IS_GIVEN = {"embedding", "segment_sum", "softmax with bias"}
OTHERS = [name for name in CASES if name.split()[0] not in FIRST_ORDER]


def _all(results):
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.parametrize("name", CASES)
def test_gradients_agree_with_differences(kernels, name):
    function, inputs = CASES[name](kernels)
    assert gradcheck(function, inputs)


def test_every_op_with_a_gradient_is_checked(kernels):
    backwards = {backward for _, backward in kernels._gradients}
    checked = {name.split()[0] for name in CASES} | SINGLE
    assert {forward for forward, _ in kernels._gradients} - backwards == checked


@pytest.mark.parametrize("name", sorted(FIRST_ORDER))
def test_ops_of_first_order_say_so(kernels, name):
    function, inputs = CASES[name](kernels)
    with pytest.raises(RuntimeError, match=rf"declares no forward mode for {name}"):
        torch.func.jvp(function, inputs, tuple(torch.ones_like(x) for x in inputs))
    total = torch.stack([result.sum() for result in _all(function(*inputs))]).sum()
    with pytest.raises(
        RuntimeError, match=rf"{name}(_weights)?_backward: \w+: requires a gradient, .* none flows to it"
    ):
        torch.autograd.grad(total, inputs, create_graph=True)


def test_aux_results_are_saved_not_returned(k):
    x = leaf(4)
    out = k.square(x)
    assert isinstance(out, torch.Tensor)
    assert gradcheck(k.square, (x,))


def test_second_order_where_declared(k):
    assert gradgradcheck(k.cube, (leaf(4),))


@pytest.mark.parametrize("name", OTHERS)
def test_second_order_of_every_op(kernels, name):
    function, inputs = CASES[name](kernels)
    assert gradgradcheck(function, inputs)


@pytest.mark.parametrize("name", OTHERS)
def test_products_by_differentiating_the_gradient_that_arrives(kernels, name):
    """torch.autograd.functional.hvp and jvp differentiate a gradient with respect to the one that it is computed from."""
    function, inputs = CASES[name](kernels)
    vectors = tuple(torch.randn_like(x) for x in inputs)

    def total(*given):
        return torch.stack([result.sin().sum() for result in _all(function(*given))]).sum()

    if name in LESS_IS_GIVEN:
        with pytest.raises(RuntimeError, match="_backward_backward: its result was differentiated"):
            torch.autograd.functional.hvp(total, inputs, vectors)
        return
    for create_graph in (False, True):
        _, found = torch.autograd.functional.hvp(total, inputs, vectors, create_graph=create_graph)
        _, wanted = torch.autograd.functional.vhp(total, inputs, vectors)
        torch.testing.assert_close(found, wanted)
    _, found = torch.autograd.functional.jvp(function, inputs, vectors)
    _, wanted = torch.func.jvp(function, inputs, vectors)
    torch.testing.assert_close(found, wanted)


def test_what_a_second_order_op_is_not_linear_in_is_refused(kernels):
    x = leaf(4)
    first = torch.autograd.grad(kernels.gelu(x).sum(), x, create_graph=True)[0]
    second = torch.autograd.grad(first.sum(), x, create_graph=True)[0]
    with pytest.raises(RuntimeError, match="gelu_backward_backward: its result was differentiated"):
        torch.autograd.grad(second.sum(), x)


@pytest.mark.parametrize("name", OTHERS)
def test_forward_mode_of_every_op(kernels, name):
    function, inputs = CASES[name](kernels)
    assert gradcheck(function, inputs, check_forward_ad=True, check_backward_ad=False, check_undefined_grad=False)


@pytest.mark.parametrize("name", OTHERS)
def test_hessian_of_every_op(kernels, name):
    """Forward mode over reverse mode agrees with reverse mode over reverse mode."""
    function, inputs = CASES[name](kernels)
    x, *others = (tensor.detach() for tensor in inputs)

    def loss(v):
        return (function(v, *others) ** 2).sum()

    torch.testing.assert_close(torch.func.hessian(loss)(x), torch.func.jacrev(torch.func.jacrev(loss))(x))


def test_second_order_where_not_declared(k):
    x, w = leaf(3), leaf(3)
    (first,) = torch.autograd.grad(k.scale_by(x, w=w).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"scale_by_backward: .*declares no gradient .*KP_GRAD\(scale_by_backward, "):
        first.sum().backward()


def test_no_gradient_declared(k):
    with pytest.raises(RuntimeError, match=r"plain: .*torch_tests declares none .*KP_GRAD\(plain, "):
        k.plain(leaf(3))
    with torch.no_grad():
        k.plain(leaf(3))
    k.plain(leaf(3).detach())


def test_frozen_weights_cost_nothing(kernels):
    """Nothing is recorded without need, and only the backward's own arguments are kept."""
    x, w = torch.randn(3, 5), torch.randn(5)
    assert kernels.rms_norm(x, w).grad_fn is None
    live = torch.randn(3, 5, requires_grad=True)
    probs = kernels.softmax(live * 1)
    kept = weakref.ref(live)
    del live
    gc.collect()
    probs.sum().backward()
    assert kept() is None or kept().grad is not None


def test_inputs_are_freed_where_the_backward_does_not_want_them(kernels):
    source = torch.randn(3, 5, requires_grad=True)
    x = source * 2
    gone = weakref.ref(x)
    probs = kernels.softmax(x)  # its backward wants the result only
    del x
    gc.collect()
    assert gone() is None
    probs.sum().backward()
    assert source.grad is not None


@pytest.mark.parametrize("path", ["direct", "operator"])
def test_modified_in_place_is_noticed(kernels, k, path):
    bump = k.bump if path == "direct" else kernpack.torch.ops(k).bump
    x = torch.randn(3, 5, requires_grad=True)
    y = x * 1
    out = kernels.gelu(y)
    with torch.no_grad():
        bump(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_expanded_cotangents(kernels):
    x = torch.randn(3, 5, requires_grad=True)
    kernels.gelu(x).sum().backward()
    torch.testing.assert_close(x.grad, torch.autograd.grad(torch.nn.functional.gelu(x).sum(), x)[0])


def test_same_as_torch(kernels):
    x, w, b = (torch.randn(*s, requires_grad=True) for s in ((4, 8), (8,), (8,)))
    ours = torch.autograd.grad(kernels.layer_norm(x, w, b).square().sum(), (x, w, b))
    theirs = torch.autograd.grad(torch.nn.functional.layer_norm(x, (8,), w, b).square().sum(), (x, w, b))
    for a, e in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, e, rtol=1e-4, atol=1e-5)


def test_checkpoint_and_hooks(kernels):
    from torch.utils.checkpoint import checkpoint

    x = torch.randn(3, 5, requires_grad=True)
    checkpoint(lambda v: kernels.gelu(v).sum(), x, use_reentrant=False).backward()
    assert x.grad is not None


BAD = {
    "names": (
        "(d_out: f32[N], y: f32[N]) -> (d_x: f32[N])",
        r"f_backward: y: expected the name of a parameter or result",
    ),
    "result": (
        "(d_out: f32[N]) -> (d_y: f32[N])",
        r"f_backward: result d_y: expected the gradient of a parameter of f",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_backward_that_does_not_fit_is_refused_at_load(name):
    signature, message = BAD[name]
    count = signature.split("->")[0].count(":")
    arguments = ", ".join(f"kp::TensorView a{i}" for i in range(count)) + ", kp::MutTensorView result"
    source = f"void f(kp::TensorView x, kp::MutTensorView out) {{}}\nvoid f_backward({arguments}) {{}}\nKP_GRAD(f, f_backward);"
    functions = {"f": "(x: f32[N]) -> (out: f32[N])", "f_backward": signature}
    with pytest.raises(ValueError, match=message):
        kernpack.load_inline(source, functions, name=f"bad_gradient_{name}")


def test_each_item_of_a_list_has_a_gradient(k):
    """The backward op runs once an item that needs one; items may have sizes of their own."""
    xs = [torch.randn(n, 3, dtype=torch.float64, requires_grad=True) for n in (2, 1, 4)]
    assert torch.autograd.gradcheck(lambda *items: k.ranked(items), xs)
    assert torch.autograd.gradgradcheck(lambda *items: k.ranked(items), xs)
    frozen, trained = xs[0].detach(), xs[1]
    k.ranked([frozen, trained, frozen]).sum().backward()
    torch.testing.assert_close(trained.grad, 4 * trained.detach())
    per_row = torch.func.vmap(torch.func.grad(lambda x: k.ranked([frozen, x]).sum()))(torch.ones(5, 2, 3).double())
    torch.testing.assert_close(per_row, torch.full((5, 2, 3), 4.0).double())


def test_gradients_of_list_items_in_compiled_programs(k):
    xs = [torch.randn(n, 3, requires_grad=True) for n in (2, 1)]
    torch._dynamo.reset()
    torch.compile(lambda a, b: k.ranked([a, b]), fullgraph=True, backend="aot_eager")(*xs).sum().backward()
    for factor, x in enumerate(xs, start=1):
        torch.testing.assert_close(x.grad, 2 * factor * x.detach())
