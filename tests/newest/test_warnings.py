"""A call of ours brings no warning that the framework's own function doesn't: what a new version deprecates and Kernpack uses fails here
(`make newest` runs this)."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

# A framework warns of itself once, in calls of its own function; from then on every warning is an error.
TORCH = """
import warnings
import numpy as np
import torch

class Model(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x) * 2

def call_every_way(function):
    x = torch.randn(4, 8)
    leaf = torch.randn(4, 8, requires_grad=True)
    function(leaf).sum().backward()
    function(x)
    with torch.inference_mode():
        function(x)
    with torch.no_grad(), torch.autocast("cpu"):
        function(x)
    torch.func.vmap(function)(torch.randn(3, 4, 8))
    torch.func.grad(lambda x: function(x).sum())(x)
    torch.func.jvp(function, (x,), (x,))
    torch.func.functionalize(function)(x)
    compiled = torch.compile(Model(function), backend="aot_eager", fullgraph=True)
    compiled(leaf).sum().backward()
    torch.export.export(Model(function), (x,))
    function(x.to("meta"))
    function(torch.nn.Parameter(x))

call_every_way(torch.nn.functional.gelu)
warnings.resetwarnings()
warnings.simplefilter("error")
warnings.filterwarnings("ignore", "Guards may run slower on Python 3.13.0")  # torch's, of this Python
import kernpack
import kernpack.torch

kernels = kernpack.load("kernpack_kernels")
call_every_way(kernels.gelu)
call_every_way(torch.ops.kernpack_kernels.gelu)
kernels.gelu(np.ones((4, 8), np.float32))
kernels.gelu(torch.ones(4, 8), out=torch.empty(4, 8))
"""
JAX = """
import warnings
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

def call_every_way(function):
    x = jnp.ones((4, 8))
    function(x)
    jax.jit(function)(x)
    jax.grad(lambda x: function(x).sum())(x)
    jax.jit(jax.vmap(function))(jnp.ones((3, 4, 8)))
    jax.jvp(function, (x,), (x,))
    jax.eval_shape(function, x)
    sharding = NamedSharding(Mesh(np.array(jax.devices()), "d"), PartitionSpec("d"))
    jax.jit(function)(jax.device_put(x, sharding))

call_every_way(jax.nn.gelu)
warnings.resetwarnings()
warnings.simplefilter("error")
import kernpack
import kernpack.jax

kernels = kernpack.load("kernpack_kernels")
call_every_way(kernels.gelu)
call_every_way(lambda x: kernels.gelu(x, approximate="tanh"))
kernpack.jax.export(jax.jit(kernels.gelu))(jnp.ones((4, 8)))
"""
# softmax's last dim isn't split: the call gathers it, and says so.
GATHERED = """
sharding = NamedSharding(Mesh(np.array(jax.devices()), "d"), PartitionSpec(None, "d"))
jax.jit(kernels.softmax)(jax.device_put(jnp.ones((4, 8)), sharding))
"""


def _run(package: str, program: str) -> subprocess.CompletedProcess[str]:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    environment = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=os.environ | environment, check=False
    )


@pytest.mark.parametrize(("package", "program"), [("torch", TORCH), ("jax", JAX)], ids=["torch", "JAX"])
def test_calls_bring_no_warning_of_their_own(package: str, program: str) -> None:
    done = _run(package, program)
    assert done.returncode == 0, done.stderr


def test_a_warning_of_ours_is_seen() -> None:
    done = _run("jax", JAX + GATHERED)
    assert done.returncode == 1
    assert "RuntimeWarning: kernpack_kernels.softmax: x is sharded over d in dim 1" in done.stderr
