"""An error of k.op is the same whether torch's dispatcher stands between or not."""

from __future__ import annotations

import kernpack
import numpy as np
import pytest
import torch
from kernpack._private import SETTING
from recorder import Recorder
from support.refusal import CONVERT
from torch._subclasses.fake_tensor import FakeTensorMode


class FunctionMode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def vmapped(call):
    return torch.vmap(lambda _: call())(torch.ones(2))


def profiled(call):
    with torch.profiler.profile():
        return call()


def in_modes(*modes):
    def run(call):
        for mode in modes:
            with mode():
                call()

    return run


PATHS = {
    "direct": lambda call: call(),
    "dispatch mode": in_modes(Recorder),
    "function mode": in_modes(FunctionMode),
    "vmap": vmapped,
    "profiler": profiled,
}
CALLS = {
    "type": (
        lambda k, x: k.scale(x.to(torch.int64)),
        TypeError,
        "scale: x: expected dtype T in {f32, f64}, got i64" + CONVERT,
    ),
    "value": (lambda k, x: k.top(x, k=9), ValueError, "top: expected 0 < k <= N, got k = 9, N = 3 (bound by x)"),
    "raised by the kernel": (lambda k, x: k.refuse(x), IndexError, "refuse: not today"),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("inference", [False, True])
def test_type_and_words(k, path, name, inference):
    call, kind, words = CALLS[name]
    with torch.inference_mode(inference):
        x = torch.ones(3)
        with pytest.raises(kind) as caught:
            PATHS[path](lambda: call(k, x))
    assert type(caught.value) is kind
    assert str(caught.value).endswith(words)
    assert "During handling" not in "".join(__import__("traceback").format_exception(caught.value))


# Each is called with a function that makes tensors.
WRONG = {
    "dtype": lambda k, t: k.scale(t(3).to(torch.int64)),
    "dtype of the second": lambda k, t: k.where_add(t(3), t(3).double()),
    "size": lambda k, t: k.where_add(t(3), t(4)),
    "rank": lambda k, t: k.top(t(), k=1),
    "rank of a list's item": lambda k, t: k.ranked([t(2, 3), t(3)]),
    "size of a list's item": lambda k, t: k.total([t(2), t(3)]),
    "leading dims": lambda k, t: k.scale_by(t(2, 3), w=t(3)),
    "strides": lambda k, t: k.plain(t(2, 3).T),
    "condition": lambda k, t: k.top(t(2, 3), k=0),
    "nothing in a list": lambda k, t: k.total([]),
    "dtype of the destination": lambda k, t: k.scale(t(3), out=t(3).double()),
    "shape of the destination": lambda k, t: k.top(t(2, 3), k=2, out=(t(2, 2), t(2, 3).int())),
    "strides of the destination": lambda k, t: k.plain(t(2, 3), out=t(3, 2).T),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_traced_is_refused_in_the_same_words(k, name):
    with pytest.raises((TypeError, ValueError)) as eager:
        WRONG[name](k, torch.ones)
    for traced in (FakeTensorMode(), torch.device("meta")):
        with traced, pytest.raises((TypeError, ValueError)) as fake:
            WRONG[name](k, torch.ones)
        assert (fake.type, str(fake.value)) == (eager.type, str(eager.value))


def test_with_a_gradient(k):
    live = torch.ones(3, requires_grad=True)
    with pytest.raises(
        TypeError, match=r"^cube: x: expected dtype T in \{f32, f64\}, got f16\n    convert it first"
    ) as caught:
        k.cube(live.half())
    assert caught.value.__cause__ is None
    with pytest.raises(ValueError, match=r"^scale_by: w: expected"):
        k.scale_by(live, w=torch.ones(4))


def test_compiled_programs_raise_it_when_they_run(k):
    torch._dynamo.reset()
    step = torch.compile(lambda x: k.refuse(x), fullgraph=True, backend="aot_eager")
    with pytest.raises(IndexError, match=r"^refuse: not today$"):
        step(torch.ones(3))


def test_operators_by_name(k):
    ops = torch.ops.kernpack_torch_tests
    for op in (ops.scale, ops.scale.default):
        with pytest.raises(
            TypeError, match=r"^scale: x: expected dtype T in \{f32, f64\}, got i64\n    convert it first"
        ):
            op(torch.ones(3, dtype=torch.int64))


def test_errors_of_torch_itself_stay_as_they_are(k):
    class Broken(Recorder):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise RuntimeError("my: own") from KeyError("cause")

    with Broken(), pytest.raises(RuntimeError, match=r"^my: own$") as caught:
        k.scale(torch.ones(3))
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    "values", [(torch.ones(3, requires_grad=True), np.ones(3, np.float32)), (torch.ones(3), np.ones(3, np.float32))]
)
def test_an_array_beside_a_tensor_that_torch_must_see(k, values):
    x, array = values
    call = lambda: k.scale_by(x, w=array)  # noqa: E731
    if SETTING == "0" and not x.requires_grad:
        assert call().tolist() == [
            2,
            2,
            2,
        ]  # torch's operators take it, where no gradient is recorded (docs/private.md)
        return
    with Recorder(), pytest.raises(TypeError, match=r"^scale_by: w: expected a torch tensor, got ndarray"):
        call()
    if x.requires_grad:
        with pytest.raises(TypeError, match=r"^scale_by: w: expected a torch tensor, got ndarray"):
            call()
        with pytest.raises(TypeError, match=r"^weighted: by: expected a torch tensor, got ndarray"):
            k.weighted(x, array)


def test_a_name_of_its_own(k):
    assert k.cube.__module__ == "torch_tests"
    assert kernpack.load("kernpack_kernels").gelu.__module__ == "kernpack_kernels"
