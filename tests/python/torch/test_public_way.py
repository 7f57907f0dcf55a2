"""Calls without hooks into torch: torch's functions are asked once per call, and the operator is called below autograd where autograd has
nothing to do. The tests that need no gradient see that the kernel at the Autograd key, written in Python, didn't run."""

from __future__ import annotations

import threading

import kernpack
import kernpack.torch
import pytest
import torch
from recorder import Recorder
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode

ASK, BELOW, RECORD = range(3)


pytestmark = pytest.mark.usefixtures("without_hooks")


def test_calls_that_nothing_follows_stay_below_autograd(k, slow):
    x, out = torch.arange(3.0), torch.zeros(3)
    weight = torch.nn.Parameter(torch.ones(3))
    torch.testing.assert_close(k.scale(x, f=3.0), 3 * x)
    torch.testing.assert_close(k.square(x), x * x)
    torch.testing.assert_close(k.where_add(x), x)
    torch.testing.assert_close(k.where_add(x, x), 2 * x)
    torch.testing.assert_close(k.total([x, x]), 2 * x)
    torch.testing.assert_close(k.cast(x, dtype="f64"), x.double())
    assert [each.tolist() for each in k.top(x, k=2)] == [[0, 1], [0, 1]]
    assert k.scale(x, out=out) is out
    assert k.top(x, k=1, out=(torch.empty(1), torch.empty(1, dtype=torch.int32)))[0].tolist() == [0]
    torch.testing.assert_close(out, 2 * x)
    k.bump(out)
    with torch.no_grad():
        torch.testing.assert_close(k.scale(weight), 2 * weight)
    with torch.inference_mode():
        k.scale(weight)
    assert not slow


def test_gradients_are_recorded_without_the_kernel_where_only_autograd_follows(k, slow):
    x = torch.arange(3.0, requires_grad=True)
    (first,) = torch.autograd.grad(k.cube(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    torch.testing.assert_close(second, 6 * x.detach())
    (ranked,) = torch.autograd.grad(k.ranked([x.view(1, 3), x.detach().view(1, 3)]).sum(), x)
    torch.testing.assert_close(ranked, 2 * x.detach())
    by = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"^weighted: by: requires a gradient"):
        k.weighted(x, by)
    with pytest.raises(RuntimeError, match="declares none for scale"):
        k.scale(x)
    with pytest.raises(RuntimeError, match="destinations cannot take part"):
        k.cube(x, out=torch.empty(3))
    assert slow == ["cube.out"]


def test_a_refused_call_leaves_autograd_on(k):
    for _ in range(2):
        with pytest.raises(IndexError, match="not today"):
            k.refuse(torch.ones(3))
        assert (torch.ones(3, requires_grad=True) * 2).requires_grad
    x = torch.ones(3)
    x.add_(1)
    assert x._version == 1


def test_each_write_is_counted_once(k):
    x, out = torch.zeros(3), torch.zeros(3)
    k.bump(x)
    assert x._version == 1
    k.taken(x, torch.ones(3), out=out)
    assert (x._version, out._version) == (2, 1)
    k.top(x, k=3, out=(out, torch.empty(3, dtype=torch.int32)))
    assert out._version == 2
    saved = torch.ones(3, requires_grad=True) * out
    k.bump(out)
    with torch.inference_mode():
        uncounted = torch.zeros(3)
    k.bump(uncounted)
    assert uncounted.tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.sum().backward()


def test_modes_see_the_operator_alone(k):
    names: list[str] = []

    class Functions(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            names.append(str(func))
            weight = torch.ones(3, requires_grad=True)
            assert (weight * 2).requires_grad  # autograd isn't off for who looks on
            return func(*args, **(kwargs or {}))

    x, live = torch.ones(3), torch.ones(3, requires_grad=True)
    with Recorder() as seen:
        k.scale(x)
        k.bump(x)
        k.cube(live)
    assert seen.seen == [f"kernpack_torch_tests.{name}.default" for name in ("scale", "bump", "cube")]
    with Functions():
        k.scale(x)
    assert "kernpack_torch_tests.scale.default" in names
    with torch.device("cpu"):
        assert k.scale(x).tolist() == [4, 4, 4]


def test_tangents_are_found_inside_a_level_only(k, kernels, slow):
    x = torch.randn(3)
    way = kernpack._core.torch_way
    assert (way(x), way(x, None), way(torch.ones(3, requires_grad=True), x)) == (BELOW, BELOW, RECORD)
    assert (way(), way(None), way(3), way(x.numpy()), way(x.to("meta"), 3)) == (ASK,) * 5
    with forward_ad.dual_level():
        assert way(x) == ASK
        dual = forward_ad.make_dual(torch.ones(2, 3), torch.full((2, 3), 2.0))
        tangent = forward_ad.unpack_dual(kernels.gelu(dual)).tangent
        expected = forward_ad.unpack_dual(torch.nn.functional.gelu(dual)).tangent
        torch.testing.assert_close(tangent, expected)
        with pytest.raises(RuntimeError, match="scale"):
            k.scale(forward_ad.make_dual(x, x))
    assert way(x) == BELOW
    assert k.scale(x).tolist() == (2 * x).tolist()
    assert slow == ["scale"]


def test_transforms_traces_autocast_and_subclasses_have_the_whole_dispatcher(k):
    way = kernpack._core.torch_way
    live = torch.ones(3, requires_grad=True)
    answers: list[int] = []

    def looked(x: torch.Tensor) -> torch.Tensor:
        answers.append(way(live))
        return k.cube(x)

    torch.testing.assert_close(torch.vmap(looked)(torch.ones(2, 3)), torch.ones(2, 3))
    torch.testing.assert_close(torch.func.grad(lambda x: looked(x).sum())(torch.ones(3)), torch.full((3,), 3.0))
    torch.jit.trace(looked, (torch.ones(3),), check_trace=False)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        answers.append(way(live))
    answers.append(way(torch.ones(3).as_subclass(type("Subclass", (torch.Tensor,), {}))))
    assert not any(answers)


def test_autocast_that_a_user_registers_is_followed_by_gradients(k):
    with torch.library._scoped_library("kernpack_torch_tests", "FRAGMENT") as library:
        torch.library.register_autocast("kernpack_torch_tests::cube", "cpu", torch.float64, lib=library)
        x = torch.full((2,), 2.0, requires_grad=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert k.cube(x.detach()).dtype == torch.float64
            y = k.cube(x)
        assert y.dtype == torch.float64
        y.sum().backward()
        assert x.grad.tolist() == [12, 12]
        assert x.grad.dtype == torch.float32


def test_threads_have_guards_of_their_own(k):
    failed: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(200):
                assert k.scale(torch.ones(3)).tolist() == [2, 2, 2]
                assert (torch.ones(3, requires_grad=True) * 2).requires_grad
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
