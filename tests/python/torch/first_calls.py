"""Makes a process's first call with torch tensors inside each of torch's modes, and all of these calls in a process that made another
before.

    python first_calls.py <path of the module of conftest.py> <mode>...

The processes are children that are forked before any call. Prints lines of JSON: the mode, "first" or "later", the call's result, the hooks
that are on afterwards, and warnings.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import kernpack
import torch
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

MODES: dict[str, Callable[[Any], Any]] = {}


def mode(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    MODES[function.__name__] = function
    return function


def x() -> torch.Tensor:
    return torch.tensor([1.0, 2.0, 3.0])


def calls(k: Any, given: torch.Tensor) -> torch.Tensor:
    """A new result, and a write to an argument."""
    y = k.scale(given)
    k.bump(y)
    return y


def values(result: Any) -> Any:
    if isinstance(result, torch.Tensor):
        return [type(result).__name__, str(result.dtype), str(result.device), result.detach().tolist()]
    return [values(one) for one in result] if isinstance(result, (list, tuple)) else result


class Dispatched(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


class Called(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(getattr(func, "__name__", str(func)))
        return func(*args, **(kwargs or {}))


@mode
def nothing(k: Any) -> Any:
    return calls(k, x())


@mode
def jit_trace(k: Any) -> Any:
    traced = torch.jit.trace(lambda given: calls(k, given), (x(),))
    return [node.kind() for node in traced.inlined_graph.nodes()], traced(x() + 1)


@mode
def torch_compile(k: Any) -> Any:
    programs: list[str] = []

    def backend(program: Any, inputs: Any) -> Any:
        programs.append(program.code)
        return program

    return torch.compile(lambda given: calls(k, given), backend=backend, fullgraph=True)(x()), programs


@mode
def torch_compile_aot(k: Any) -> Any:
    return torch.compile(lambda given: calls(k, given), backend="aot_eager", fullgraph=True)(x())


@mode
def make_fx_real(k: Any) -> Any:
    program = make_fx(lambda given: calls(k, given))(x())
    return program.code, program(x() + 1)


@mode
def make_fx_symbolic(k: Any) -> Any:
    program = make_fx(lambda given: calls(k, given), tracing_mode="symbolic")(x())
    return program.code, program(torch.ones(5))


@mode
def export(k: Any) -> Any:
    class Model(torch.nn.Module):
        def forward(self, given: torch.Tensor) -> torch.Tensor:
            return calls(k, given)

    program = torch.export.export(Model(), (x(),)).module()
    return program.graph.python_code("self").src, program(x() + 1)


@mode
def vmap(k: Any) -> Any:
    return torch.vmap(k.scale)(torch.stack([x(), x()]))


@mode
def vmap_of_vmap(k: Any) -> Any:
    return torch.vmap(torch.vmap(k.scale))(torch.ones(2, 3, 4))


@mode
def func_grad(k: Any) -> Any:
    return torch.func.grad(lambda given: k.cube(given).sum())(x())


@mode
def func_jvp(k: Any) -> Any:
    return torch.func.jvp(lambda given: given * k.scale(x()), (x(),), (x(),))


@mode
def functionalize(k: Any) -> Any:
    return torch.func.functionalize(k.scale)(x())


@mode
def fake_tensors(k: Any) -> Any:
    with torch._subclasses.FakeTensorMode():
        y = k.scale(torch.ones(3))
    return type(y).__name__, list(y.shape), str(y.dtype)


@mode
def real_tensor_under_fake_tensors(k: Any) -> Any:
    given = x()
    with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True):
        y = k.scale(given)
    return type(y).__name__, list(y.shape), str(y.dtype)


@mode
def dispatch_mode(k: Any) -> Any:
    given = x()
    with Dispatched() as watching:
        y = calls(k, given)
    return y, [name for name in watching.seen if name != "aten.alias.default"]


@mode
def inside_dispatch_mode(k: Any) -> Any:
    given = x()

    class Calling(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return calls(k, given)

    with Calling():
        return given + 1


@mode
def function_mode(k: Any) -> Any:
    given = x()
    with Called() as watching:
        y = calls(k, given)
    return y, [name for name in watching.seen if "scale" in name or "bump" in name]


@mode
def default_device(k: Any) -> Any:
    given = x()
    with torch.device("meta"):
        return calls(k, given)


@mode
def default_dtype(k: Any) -> Any:
    torch.set_default_dtype(torch.float64)
    return calls(k, x())


@mode
def inference_mode(k: Any) -> Any:
    with torch.inference_mode():
        y = calls(k, x())
        return y, y.is_inference()


@mode
def no_grad(k: Any) -> Any:
    with torch.no_grad():
        return k.cube(x().requires_grad_())


@mode
def gradient(k: Any) -> Any:
    given = x().requires_grad_()
    k.cube(given).sum().backward()
    return given.grad


@mode
def in_backward(k: Any) -> Any:
    given, seen = x().requires_grad_(), []
    given.register_hook(lambda coming: seen.append(calls(k, coming)))
    (given * 2).sum().backward()
    return seen


@mode
def in_autograd_function(k: Any) -> Any:
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, given: torch.Tensor) -> torch.Tensor:
            return calls(k, given)

        @staticmethod
        def backward(ctx: Any, coming: torch.Tensor) -> torch.Tensor:
            return k.scale(coming.contiguous())

    given = x().requires_grad_()
    y = Scaled.apply(given)
    y.sum().backward()
    return y, given.grad


@mode
def in_an_operator(k: Any) -> Any:
    @torch.library.custom_op("first_calls::scale", mutates_args=())
    def scale(given: torch.Tensor) -> torch.Tensor:
        return calls(k, given)

    return scale(x())


@mode
def forward_mode(k: Any) -> Any:
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(forward_ad.make_dual(x(), x()) * k.scale(x()))


@mode
def autocast(k: Any) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return calls(k, x())


@mode
def deterministic(k: Any) -> Any:
    torch.use_deterministic_algorithms(True)
    return calls(k, x())


@mode
def profiler(k: Any) -> Any:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as recorded:
        y = k.scale(x())
    return y, any("scale" in event.key for event in recorded.key_averages())


@mode
def another_thread(k: Any) -> Any:
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.append(calls(k, x())))
    thread.start()
    thread.join()
    return seen


def run(k: Any, name: str, when: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        try:
            given = values(MODES[name](k))
        except Exception:
            given = traceback.format_exc()
        torch.set_default_dtype(torch.float32)
        torch.use_deterministic_algorithms(False)
        after = values(calls(k, x()))
    on = sorted(hook for hook, state in kernpack.info()["private_hooks"].items() if state == "on" and hook[0] == "t")
    warned = [str(one.message) for one in caught if "kernpack" in str(one.message)]
    row = {"mode": name, "when": when, "given": given, "after": after, "on": on, "warned": warned}
    print(json.dumps(row), flush=True)


def in_child(body: Callable[[], None]) -> None:
    child = os.fork()
    if child == 0:
        body()
        os._exit(0)
    os.waitpid(child, 0)


def main(path: str, *names: str) -> None:
    importlib.import_module("torch._dynamo")  # once: each child would import it
    k = kernpack.load(path)

    def later() -> None:
        calls(k, x())
        for name in names or MODES:
            run(k, name, "later")

    for name in names or MODES:
        in_child(functools.partial(run, k, name, "first"))
    in_child(later)


if __name__ == "__main__":
    main(*sys.argv[1:])
