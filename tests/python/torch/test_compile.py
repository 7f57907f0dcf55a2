"""torch.compile, opcheck, torch.export."""

from __future__ import annotations

import pytest
import torch
from support.row_activations import ROW_ACTIVATIONS
from torch._dynamo.testing import CompileCounterWithBackend


def compiled(function, dynamic=None):
    counter = CompileCounterWithBackend("aot_eager")
    return torch.compile(function, fullgraph=True, dynamic=dynamic, backend=counter), counter


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()


def test_a_chain_of_kernels_compiles_as_one_graph(kernels):
    def f(x, w, b):
        y = kernels.layer_norm(x, w, b, eps=1e-6)
        return kernels.softmax(kernels.gelu(y, approximate="tanh"))

    arguments = torch.randn(4, 8), torch.randn(8), torch.randn(8)
    g, counter = compiled(f)
    torch.testing.assert_close(g(*arguments), f(*arguments))
    assert counter.frame_count == 1


def test_dynamic_shapes(kernels):
    def f(x, w):
        return kernels.rms_norm(x, w) * 2

    g, counter = compiled(f, dynamic=True)
    for rows in (3, 5, 9):
        x, w = torch.randn(rows, 8), torch.randn(8)
        torch.testing.assert_close(g(x, w), f(x, w))
    assert counter.frame_count == 1


def test_an_int_that_changes(k):
    def f(x, n):
        return k.top(x, k=n)[0]

    g, counter = compiled(f)
    for n in range(2, 8):
        torch.testing.assert_close(g(torch.arange(9.0), n), torch.arange(float(n)))
    assert counter.frame_count <= 2


def test_compiled_gradients_agree_with_eager_ones(kernels):
    def f(x, w):
        return kernels.gelu(kernels.rms_norm(x, w)).square().sum()

    g, _ = compiled(f)
    x, w = torch.randn(4, 8, requires_grad=True), torch.randn(8, requires_grad=True)
    for a, e in zip(torch.autograd.grad(g(x, w), (x, w)), torch.autograd.grad(f(x, w), (x, w)), strict=True):
        torch.testing.assert_close(a, e)


def test_the_graph_holds_the_operator(kernels):
    """Below autograd there is only `default`, in the forward and in the backward."""
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    seen = set()

    def look(graph, _):
        seen.update(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
        return make_boxed_func(graph.forward)

    g = torch.compile(kernels.gelu, fullgraph=True, backend=aot_autograd(fw_compiler=look))
    g(torch.randn(3, requires_grad=True)).sum().backward()
    ours = {name for name in seen if "kernpack" in name}
    assert ours == {"kernpack_kernels.gelu.default", "kernpack_kernels.gelu_backward.default"}


def test_compile_keeps_what_kernels_write(k):
    def f(x):
        y = x * 1
        k.bump(y)
        k.bump(x)
        return y + x

    g, _ = compiled(f)
    a, b = torch.zeros(3), torch.zeros(3)
    torch.testing.assert_close(g(a), f(b))
    torch.testing.assert_close(a, b)


def test_compile_keeps_what_is_written_to_out(k):
    def f(x):
        out = torch.empty_like(x)
        k.scale(x, f=3.0, out=out)
        return out + 1

    g, _ = compiled(f)
    torch.testing.assert_close(g(torch.ones(3)), torch.full((3,), 4.0))


def test_every_kind_of_argument(k):
    def f(x):
        y = k.kinds(x, mode="double", flag=True, n=x.shape[0])
        z = k.cast(y, dtype=torch.float64)
        return k.total([z, z]), k.where_add(x, None), k.where_add(x, y), k.kernel_memory(x)

    g, _ = compiled(f)
    x = torch.arange(4.0)
    for a, e in zip(g(x), f(x), strict=True):
        torch.testing.assert_close(a, e)


def test_requires_grad_without_a_gradient(k):
    g, _ = compiled(lambda x: k.plain(x))
    with pytest.raises(Exception, match="declares none"):
        g(torch.ones(3, requires_grad=True))


def test_inductor_calls_kernels_between_its_own(kernels):
    def f(x, w):
        return kernels.rms_norm(x.transpose(0, 1).contiguous() + 1, w).sum(-1)

    g = torch.compile(f, fullgraph=True)
    x, w = torch.randn(4, 6, 8), torch.randn(8)
    torch.testing.assert_close(g(x, w), f(x, w))


@pytest.mark.parametrize("backend", ["inductor", "aot_eager"])
def test_names_that_torch_has_for_parameters_of_its_own_compile(k, backend):
    """In place, and with destinations: there torch passes all arguments by name."""

    def through_k(x, y):
        return k.taken(x, cls=y, factor=3.0) + 1

    def by_destination(x, y):
        out = torch.empty_like(y)
        torch.ops.kernpack_torch_tests.taken.out(x, cls_=y, factor=3.0, out=out)
        return out + 1

    for f in (through_k, by_destination):
        x, y = torch.zeros(3), torch.arange(3.0)
        assert torch.compile(f, fullgraph=True, backend=backend)(x, y).tolist() == [1, 4, 7]
        assert x.tolist() == [1, 1, 1]
    x, y = torch.zeros(3), torch.arange(3.0)
    assert k.taken(x, y).tolist() == [0, 2, 4]
    assert torch.func.vmap(k.taken)(torch.zeros(2, 3), y.expand(2, 3)).tolist() == [[0, 2, 4]] * 2
    with pytest.raises(RuntimeError, match="taken: cls: requires a gradient"):
        k.taken(x, y.requires_grad_())


def samples(kernels):
    x, w, b = torch.randn(3, 8), torch.randn(8), torch.randn(8)
    d = torch.randn(3, 8)
    turns = torch.randn(3, 4)
    heads = tuple(torch.randn(2, 3, count, 8) for count in (4, 2, 2))
    ends = torch.tensor([0, 2, 6], dtype=torch.int32)
    mask = torch.tensor([[True, False, True], [True, True, True]])
    return {
        "layer_norm": ((x, w, b), {"eps": 1e-5}),
        "layer_norm_backward": ((d, x, w), {"eps": 1e-5}),
        "rms_norm": ((x, w), {"eps": 1e-5}),
        "rms_norm_backward": ((d, x, w), {"eps": 1e-5}),
        "softmax": ((x, torch.ones(1, 8, dtype=torch.bool)), {}),
        "softmax_backward": ((d, x.softmax(-1)), {}),
        "softmax_mask_backward": ((d, x.softmax(-1), torch.randn(1, 8)), {}),
        "gelu": ((x,), {"approximate": "tanh"}),
        "gelu_backward": ((d, x), {"approximate": "none"}),
        "l2_normalize": ((x,), {"eps": 1e-12}),
        "l2_normalize_backward": ((d, x), {"eps": 1e-12}),
        "mean_pool": ((torch.randn(2, 3, 4), mask), {}),
        "mean_pool_backward": ((torch.randn(2, 4), mask), {}),
        "cumsum": ((x,), {"reverse": True}),
        "cumsum_backward": ((d,), {"reverse": True}),
        "grouped_linear": ((x, torch.randn(2, 5, 8), torch.tensor([0, 1])), {}),
        "causal_conv1d": ((torch.randn(2, 3, 8), torch.randn(8, 4), b), {"activation": "silu"}),
        "embedding_bag": ((x, torch.tensor([1, 0, 2]), torch.tensor([0, 2]), torch.randn(3)), {}),
        "scatter_sum": ((x, torch.tensor([1, 0, 1])), {"rows": 4}),
        "scatter_sum_backward": ((torch.randn(4, 8), torch.tensor([1, 0, 1])), {"rows": 4}),
        "softmax_columns": ((x,), {}),
        "softmax_columns_backward": ((d, x.softmax(0)), {}),
        "segment_sum": ((x, torch.tensor([0, 2, 2])), {}),
        "segment_sum_backward": ((torch.randn(2, 8), x, torch.tensor([0, 1])), {}),
        "embedding": ((torch.randn(5, 4), torch.tensor([1, 4])), {}),
        "add_rms_norm": ((x, d, w), {"eps": 1e-5}),
        "add_layer_norm": ((x, d, w, b), {"eps": 1e-5}),
        "attention": (heads, {"causal": True}),
        "masked_attention": ((*heads, torch.randn(1, 1, 3, 3), torch.randn(4)), {"causal": True}),
        "varlen_attention": ((*(h.flatten(0, 1) for h in heads), ends, ends), {"causal": True}),
        "cross_entropy": ((x, torch.tensor([1, 7, 0])), {"label_smoothing": 0.1}),
        "fused_linear_cross_entropy": ((x, torch.randn(5, 8), torch.tensor([1, 4, 0])), {}),
        "linear": ((x, torch.randn(5, 8), torch.randn(5), torch.randn(3, 5)), {"activation": "gelu"}),
        "swiglu": ((x, d), {}),
        "group_norm": ((torch.randn(3, 8, 2), w, b), {"groups": 4}),
        "geglu": ((x, d), {"approximate": "none"}),
        **{name: ((x,), {}) for name in ROW_ACTIVATIONS},
        "topk": ((x,), {"k": 2}),
        "rope": ((torch.randn(3, 2, 8), turns.cos(), turns.sin()), {"interleaved": True}),
        "rope_backward": ((torch.randn(3, 2, 8), turns.cos(), turns.sin()), {"interleaved": False}),
        "embedding_backward": ((torch.randn(2, 4), torch.randn(5, 4), torch.tensor([1, 4])), {}),
    }


def test_opcheck_covers_every_op_that_has_a_gradient(kernels):
    assert set(samples(kernels)) == {forward for forward, _ in kernels._gradients}


@pytest.mark.parametrize("overload", ["default", "out"])
@pytest.mark.parametrize("name", sorted(samples(None)))
def test_opcheck_passes_for_every_operator(kernels, name, overload):
    packet = getattr(torch.ops.kernpack_kernels, name)
    args, kwargs = samples(kernels)[name]
    if overload == "out":
        found = packet(*args, **kwargs)
        found = found if isinstance(found, tuple) else (found,)
        names = [
            a.name
            for a in packet.out._schema.arguments
            if a.name not in {b.name for b in packet.default._schema.arguments}
        ]
        kwargs = kwargs | dict(zip(names, map(torch.empty_like, found), strict=True))
    if overload == "default" and name in {forward for forward, _ in kernels._gradients}:
        # No gradient flows to rope's angles, nor back from what these save for their backward pass: opcheck asks for all.
        saved = {"attention", "cross_entropy", "fused_linear_cross_entropy", "masked_attention", "varlen_attention"}
        fixed = 0 if name in saved else 1 if name.startswith("rope") else len(args)
        args = tuple(a.requires_grad_() if a.is_floating_point() and i < fixed else a for i, a in enumerate(args))
    torch.library.opcheck(getattr(packet, overload), args, kwargs)


def test_opcheck_of_what_mutates(k):
    ops = torch.ops.kernpack_torch_tests
    torch.library.opcheck(ops.bump.default, (torch.zeros(3),))
    torch.library.opcheck(ops.total.default, ([torch.zeros(3), torch.ones(3)],))


class Block(torch.nn.Module):
    def __init__(self, kernels):
        super().__init__()
        self.kernels = kernels
        self.weight = torch.nn.Parameter(torch.randn(8))

    def forward(self, x):
        return self.kernels.gelu(self.kernels.rms_norm(x, self.weight))


@pytest.mark.parametrize("strict", [False, True])
def test_export_keeps_gradients(kernels, strict):
    block = Block(kernels)
    rows = torch.export.Dim("rows", min=2, max=64)
    program = torch.export.export(block, (torch.randn(4, 8),), dynamic_shapes=({0: rows},), strict=strict)
    back = program.module()
    x = torch.randn(7, 8)
    torch.testing.assert_close(back(x), block(x))
    back(x).square().sum().backward()
    block(x).square().sum().backward()
    (weight,) = back.parameters()
    torch.testing.assert_close(weight.grad, block.weight.grad)


def test_export_to_a_file(kernels, tmp_path):
    block = Block(kernels).requires_grad_(False)
    torch.export.save(torch.export.export(block, (torch.randn(4, 8),)), tmp_path / "block.pt2")
    x = torch.randn(4, 8)
    torch.testing.assert_close(torch.export.load(tmp_path / "block.pt2").module()(x), block(x))
