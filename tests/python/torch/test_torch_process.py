"""Behaviour that depends on the order of imports, on threads and on forks: each case in a separate process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_torch_imported_after_the_module():
    run("""
import sys
from pathlib import Path
import kernpack

k = kernpack.load("kernpack_kernels")
assert "torch" not in sys.modules
import torch

x = torch.ones(3, requires_grad=True)
assert torch.ops.kernpack_kernels.gelu.default(x.detach()).shape == (3,)
k.gelu(x).sum().backward()
assert not {"torch._dynamo", "sympy"} & set(sys.modules)  # nothing large came along: either takes seconds
assert torch.compile(k.gelu, fullgraph=True, backend="eager")(torch.ones(3)).shape == (3,)
""")


def test_an_older_torch_is_a_clear_error_and_no_obstacle():
    run("""
import sys, types
old = types.ModuleType("torch")
old.__version__ = "2.9.1"
sys.modules["torch"] = old
import kernpack, numpy
k = kernpack.load("kernpack_kernels")
assert k.gelu(numpy.ones(3, numpy.float32)).shape == (3,)
try:
    import kernpack.torch
except ImportError as error:
    assert "expected torch >= 2.10, got 2.9.1" in str(error), error
else:
    raise AssertionError("imported")
""")


def test_forked_child_and_threads():
    run("""
import os, threading
import kernpack, torch

k = kernpack.load("kernpack_kernels")
expected = torch.nn.functional.gelu(torch.ones(4))
wrong = []

def work():
    for _ in range(200):
        x = torch.ones(4, requires_grad=True)
        out = k.gelu(x)
        out.sum().backward()
        if not torch.allclose(out.detach(), expected) or x.grad is None:
            wrong.append(out)

threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
assert not wrong
child = os.fork()
if child == 0:
    os._exit(0 if torch.allclose(torch.ops.kernpack_kernels.gelu(torch.ones(4)), expected) else 1)
assert os.waitpid(child, 0)[1] == 0
""")


def test_a_call_at_exit():
    run("""
import atexit
import kernpack, torch

k = kernpack.load("kernpack_kernels")
x = torch.ones(4, requires_grad=True)
atexit.register(lambda: k.gelu(x).sum().backward())
""")


def test_no_signature():
    run("""
import kernpack, torch
from torch._subclasses.fake_tensor import FakeTensorMode

k = kernpack.load_inline("void touch(kp::TensorView x) {}", ["touch"], name="torch_untyped")
k.touch(torch.ones(3))
with FakeTensorMode():
    try:
        k.touch(torch.empty(3))
    except TypeError as error:
        assert str(error).startswith("touch: argument 0: cannot be given to a kernel directly: "), error
    else:
        raise AssertionError("a fake tensor has no memory to touch")
""")


def test_an_operator_found_by_its_name_is_complete():
    """Nothing written in Python is made for a function before it is asked for, however that is done."""
    run("""
import torch, kernpack, kernpack.torch

k = kernpack.load("kernpack_kernels")
operators = kernpack.torch.ops(k)
assert not operators._functions
k.gelu(torch.ones(3))
assert not operators._functions or kernpack._private.SETTING == "0"  # then every call is the operator's
space = getattr(torch.ops, operators.namespace)
assert space.gelu(torch.empty(3, device="meta")).device.type == "meta"
assert sorted(operators._functions) == ["gelu", "gelu_backward", "gelu_backward_backward"], list(operators._functions)
x = torch.ones(3, requires_grad=True)
space.gelu.default(x).sum().backward()
assert x.grad is not None
assert not hasattr(space, "nothing_of_that_name")
taken = k.softmax
k.close()
taken(x).sum().backward()  # a function outlives its module's names
""")


def test_a_saved_trace_keeps_its_gradient(tmp_path):
    """torch.jit.load calls the operator without asking Python for it."""
    trace = f"""
import kernpack, torch
k = kernpack.load("kernpack_kernels")
torch.jit.trace(lambda x: k.gelu(x), (torch.ones(3),)).save({str(tmp_path / "trace.pt")!r})
"""
    run(trace)
    run(f"""
import kernpack, kernpack.torch, torch
k = kernpack.load("kernpack_kernels")
trace = torch.jit.load({str(tmp_path / "trace.pt")!r})
assert not kernpack.torch.ops(k)._functions
x = torch.ones(3, requires_grad=True)
trace(x).sum().backward()
y = torch.ones(3, requires_grad=True)
torch.nn.functional.gelu(y).sum().backward()
torch.testing.assert_close(x.grad, y.grad)
""")


def test_threads_that_ask_first_at_once():
    """By the module and by the operator's name, which torch's own tables hold before it is complete."""
    run("""
import sys, threading
import kernpack, torch

sys.setswitchinterval(1e-6)
k = kernpack.load("kernpack_kernels")
start, wrong = threading.Barrier(8), []

def work(name):
    start.wait()
    x = torch.ones(2, 3, requires_grad=True)
    by_name = threading.current_thread().name[-1] in "0246"
    op = getattr(torch.ops.kernpack_kernels, name) if by_name else getattr(k, name)
    op(x).sum().backward()
    if x.grad is None:
        wrong.append(name)

threads = [threading.Thread(target=work, args=(name,)) for name in ("gelu", "softmax", "l2_normalize", "gelu") * 2]
[t.start() for t in threads]
[t.join() for t in threads]
assert not wrong
""")


def test_memory_does_not_grow():
    command = [sys.executable, str(Path(__file__).parents[2] / "support" / "growth.py"), "torch", "20000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 512  # KiB: a leak of 32 bytes a call would be more
