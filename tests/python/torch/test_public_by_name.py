"""Operators that are called by name, without hooks into torch: torch is asked once per call, and the operator's kernel at the Autograd key,
written in Python, runs only where autograd or forward mode has something to do that torch alone knows."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from collections.abc import Iterator

import kernpack
import kernpack.torch
import pytest
import torch
from kernpack._private.torch import names
from recorder import Recorder
from torch.autograd import forward_ad
from torch.func import grad, jvp, vmap

pytestmark = pytest.mark.usefixtures("without_hooks")


@pytest.fixture(params=["default", "packet"])
def ops(request, k):
    space = getattr(torch.ops, kernpack.torch.ops(k).namespace)

    class Ops:
        def __getattr__(self, name: str):
            packet = getattr(space, name)
            return packet if request.param == "packet" else packet.default

    return Ops()


@pytest.fixture
def level_behind_python() -> Iterator[None]:
    """A level of forward mode as compiled programs open it: torch.autograd.forward_ad doesn't count it."""
    level = names.open_level()
    yield
    names.close_level(level)


def test_calls_that_nothing_follows_stay_below_autograd(ops, slow):
    x, written = torch.arange(3.0), torch.zeros(3)
    weight = torch.nn.Parameter(torch.ones(3))
    torch.testing.assert_close(ops.scale(x, f=3.0), 3 * x)
    torch.testing.assert_close(ops.scale(x=x), 2 * x)
    torch.testing.assert_close(ops.cube(x), x**3)
    torch.testing.assert_close(ops.where_add(x), x)
    torch.testing.assert_close(ops.where_add(x, None), x)
    torch.testing.assert_close(ops.where_add(x, x), 2 * x)
    torch.testing.assert_close(ops.total([x, x]), 2 * x)
    torch.testing.assert_close(ops.cast(x, dtype=torch.float64), x.double())
    assert [each.tolist() for each in ops.top(x, k=2)] == [[0, 1], [0, 1]]
    assert ops.bump(written) is None
    assert (written.tolist(), written._version) == ([1, 1, 1], 1)
    with torch.no_grad():
        torch.testing.assert_close(ops.scale(weight), 2 * weight)
    assert not slow


def test_gradients_are_recorded_without_the_kernel(ops, slow):
    x = torch.arange(3.0, requires_grad=True)
    (first,) = torch.autograd.grad(ops.cube(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    torch.testing.assert_close(second, 6 * x.detach())
    with pytest.raises(RuntimeError, match=r"^weighted: by: requires a gradient"):
        ops.weighted(x, torch.ones(3, requires_grad=True))
    with pytest.raises(RuntimeError, match="declares none for scale"):
        ops.scale(x)
    assert not slow


def test_tangents_are_found_in_levels_that_python_does_not_count(k, ops, level_behind_python):
    x, t = torch.arange(3.0), torch.ones(3)
    dual = torch._VF._make_dual(x, t, level=0)
    for call in (ops.cube, k.cube):
        with pytest.raises(RuntimeError, match="cube: an argument carries a tangent"):
            call(dual)
    assert kernpack._core.torch_way(x) == 0
    torch.testing.assert_close(ops.cube(x), x**3)
    with pytest.raises(RuntimeError, match="Nested forward mode"):
        names.open_level()


def test_asking_leaves_no_level_open(ops):
    ops.scale(torch.ones(3))
    with forward_ad.dual_level():  # torch refuses a second one
        ops.scale(torch.ones(3))
    names.close_level(names.open_level())


def test_tangents_and_transforms(kernels):
    gelu, x, t = torch.ops.kernpack_kernels.gelu.default, torch.randn(2, 3), torch.randn(2, 3)
    found = jvp(gelu, (x,), (t,))
    expected = jvp(torch.nn.functional.gelu, (x,), (t,))
    torch.testing.assert_close(found, expected)
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(gelu(forward_ad.make_dual(x, t))).tangent
        torch.testing.assert_close(tangent, expected[1])
    torch.testing.assert_close(vmap(gelu)(x), torch.nn.functional.gelu(x))
    torch.testing.assert_close(grad(lambda v: gelu(v).sum())(x), grad(lambda v: torch.nn.functional.gelu(v).sum())(x))


def test_modes_see_the_operator_alone_and_may_call_it_again(k, ops):
    x = torch.ones(3)
    with Recorder() as inner, Recorder() as outer:
        assert ops.scale(x).tolist() == [2, 2, 2]
        ops.bump(x)
    for seen in (inner, outer):
        assert seen.seen == [f"kernpack_torch_tests.{name}.default" for name in ("scale", "bump")]
    assert x.tolist() == [2, 2, 2]


def test_a_refused_call_says_what_the_kernel_meant_and_leaves_autograd_on(ops):
    for _ in range(12):  # more often than there are guards to be used again
        with pytest.raises(IndexError, match="not today"):
            ops.refuse(torch.ones(3))
        assert (torch.ones(3, requires_grad=True) * 2).requires_grad
    with pytest.raises(TypeError, match="scale: x: expected an ordinary dense tensor, got a sparse one"):
        ops.scale(torch.ones(3).to_sparse())


def test_what_torch_refuses_is_refused(ops):
    x = torch.ones(3)
    for args, kwargs in (((), {}), ((x, 1.0, 2.0), {}), ((x,), {"g": 1.0}), ((x,), {"f": "two"}), (("x",), {})):
        with pytest.raises((RuntimeError, TypeError)):
            ops.scale(*args, **kwargs)


def test_it_is_torchs_own_object(ops):
    op = ops.scale
    assert isinstance(op, (torch._ops.OpOverload, torch._ops.OpOverloadPacket))
    assert type(op).__name__ in ("OpOverload", "OpOverloadPacket")
    assert type(op).__module__ == "torch._ops"
    assert copy.deepcopy(op) is op or isinstance(op, torch._ops.OpOverloadPacket)
    assert "scale" in str(op)
    assert {op: 1}[op] == 1


PROGRAM = """
import pytest, sys
from pathlib import Path
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""


@pytest.mark.skipif(os.environ.get("KERNPACK_PRIVATE") == "0", reason="this process has no hooks")
def test_the_same_where_hooks_were_never_on():
    """There, the objects that torch finds have classes of ours."""
    environment = os.environ | {"KERNPACK_PRIVATE": "0"}
    command = [sys.executable, "-c", PROGRAM, __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
