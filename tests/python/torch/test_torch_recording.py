"""Whatever records a program gets the operator, not the numbers that a direct call gave."""

from __future__ import annotations

import kernpack
import kernpack.torch
import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

SCALE = "kernpack_torch_tests.scale.default"


def targets(graph) -> list[str]:
    return [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]


def test_jit_trace(k):
    a, b = torch.randn(3), torch.randn(3)
    traced = torch.jit.trace(lambda x: k.scale(x, f=3.0) + 1, (a,))
    torch.testing.assert_close(traced(b), 3 * b + 1)
    assert "kernpack_torch_tests::scale" in str(traced.graph)
    weight = torch.randn(3)  # from outside: the operator is in the program all the same
    traced = torch.jit.trace(lambda x: x + k.scale(weight), (a,))
    torch.testing.assert_close(traced(b), b + 2 * weight)
    assert "kernpack_torch_tests::scale" in str(traced.graph)


def test_jit_trace_with_weights(k):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(3))

        def forward(self, x):
            return k.cube(self.weight) * x

    net, b = Net(), torch.randn(3)
    traced = torch.jit.trace(net, (torch.randn(3),))
    assert "kernpack_torch_tests::cube" in str(traced.inlined_graph)
    traced(b).sum().backward()
    torch.testing.assert_close(net.weight.grad, 3 * net.weight.detach() ** 2 * b)


def test_symbolic_trace(k):
    weight = torch.ones(4, requires_grad=True)

    class Net(torch.nn.Module):
        def forward(self, x, n):
            values, indices = k.top(k.scale(x, f=3.0), k=n)
            return values, indices, k.square(x), k.scale_by(weight, w=x), k.total([x, x])

    graph = torch.fx.symbolic_trace(Net())
    assert SCALE in targets(graph)
    x = torch.arange(4.0)
    for found, expected in zip(graph(x, 2), Net()(x, 2), strict=True):
        torch.testing.assert_close(found, expected)


def test_symbolic_trace_of_a_function_without_a_signature():
    module = kernpack.load_inline("void touch(kp::TensorView x) {}", ["touch"], name="torch_untraced")
    for trace in (torch.fx.symbolic_trace, lambda f: torch.jit.trace(f, (torch.ones(2),))):
        with pytest.raises(TypeError, match=r"^touch: argument 0: cannot be given to a kernel directly: .*trace"):
            trace(lambda x: module.touch(x))
    with torch.profiler.profile():
        module.touch(torch.ones(2))
    assert torch.vmap(lambda v: (module.touch(torch.ones(2)), v)[1])(torch.ones(3, 2)).shape == (3, 2)


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic", "pre_dispatch"])
def test_make_fx_over_weights_from_outside(k, mode):
    weight = torch.randn(3)
    how = {"pre_dispatch": True} if mode == "pre_dispatch" else {"tracing_mode": mode, "_allow_non_fake_inputs": True}
    graph = make_fx(lambda x: k.scale(weight, f=3.0) + x, **how)(torch.ones(3))
    assert targets(graph).count(SCALE) == 1
    torch.testing.assert_close(graph(torch.zeros(3)), 3 * weight)


def test_a_symbolic_number_stays_one(k):
    """An int before the tensors too: nothing asks for its value."""
    source = "void same(int64_t n, kp::TensorView x, kp::MutTensorView out) {}"
    module = kernpack.load_inline(source, {"same": "(n: int, x: f32[N]) -> (out: f32[n, N])"}, name="torch_symbols")
    graph = make_fx(lambda x: module.same(x.shape[0], x), tracing_mode="symbolic")(torch.ones(5))
    assert graph(torch.ones(7)).shape == (7, 7)


def test_export_holds_the_operator(k):
    class Net(torch.nn.Module):
        def forward(self, x):
            return k.scale(x)

    for strict in (False, True):
        program = torch.export.export(Net(), (torch.ones(3),), strict=strict)
        assert SCALE in targets(program)


def test_the_profiler_sees_direct_calls(k):
    x = torch.ones(3, requires_grad=True)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        k.scale(x.detach())
        k.cube(x).sum().backward()
    names = {event.name for event in profile.events()}
    space = "kernpack_torch_tests::"
    assert {space + "scale", space + "cube", space + "cube_backward"} <= names


def test_a_mode_in_another_thread_changes_nothing_here(k):
    import threading

    from recorder import Recorder

    inside, done = threading.Event(), threading.Event()

    def work():
        with Recorder():
            inside.set()
            done.wait()

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    x = torch.ones(2)
    with Recorder() as here:
        k.scale(x)
    k.scale(x)
    done.set()
    thread.join()
    assert here.seen == [SCALE]
