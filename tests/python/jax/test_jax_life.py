"""Calls at odd times of a process's life, and many of them."""

from __future__ import annotations

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_modules import HERE, run_python

FORKED = """
import os, sys, warnings
warnings.filterwarnings("ignore")  # JAX's and Python's own, of the fork
import jax, jax.numpy as jnp, numpy as np, kernpack, kernpack.jax
k = kernpack.load(sys.argv[1])
x = jnp.ones(2)
k.axpb(x, a=3)
child = os.fork()
if child == 0:
    print(k.axpb(np.ones(2, np.float32), a=3).tolist())
    for call in (k.axpb, jax.jit(k.axpb), kernpack.jax.ops(k).axpb):
        try:
            call(x)
        except RuntimeError as error:
            print(error)
    try:
        k.axpb(x, a=3)  # one that was made before
    except RuntimeError as error:
        print(error)
    sys.stdout.flush()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print(k.axpb(x, a=3).tolist())
"""


def test_a_forked_child_is_told_and_numpy_still_works(module_path):
    first, *errors, last = run_python(FORKED, str(module_path)).splitlines()
    assert first == last == "[3.5, 3.5]"
    assert len(errors) == 4
    for error in errors:
        assert error.startswith("axpb: JAX does not work in a process that was forked from one that used it; start ")


AT_EXIT = """
import atexit, sys, jax, jax.numpy as jnp, kernpack
k = kernpack.load(sys.argv[1])
x = jnp.ones(2)
step = jax.jit(k.axpb)
step(x)

class Late:
    def __del__(self):
        try:
            k.axpb(x, a=3)
        except Exception:
            pass

late = Late()
late.itself = late
atexit.register(lambda: print(k.axpb(x, a=3).tolist(), step(x).tolist(), flush=True))
"""


def test_at_interpreter_exit(module_path):
    assert run_python(AT_EXIT, str(module_path)) == "[3.5, 3.5] [2.5, 2.5]\n"


def test_a_number_that_changes(k):
    """An int compiles each time; as a tensor of rank 0 it does not."""
    from kernpack.jax import _op

    x = jnp.ones(2)
    k.counted(x, 0)
    before = _op.program.cache_info().misses
    for a in range(100, 104):
        k.axpb(x, a=a)
    assert _op.program.cache_info().misses == before + 4
    step = jax.jit(k.counted)
    for n in range(4):
        assert step(x, jnp.int32(n)) == n
        assert k.counted(x, n) == n
    assert step._cache_size() == 1
    assert _op.program.cache_info().misses == before + 4


def test_frameworks_do_not_mix_in_either_order(k):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    theirs, ours = torch.ones(2), jnp.ones(2)
    for args in ((theirs, ours), (ours, theirs)):
        with pytest.raises(
            TypeError, match=r"add_bias: \w+: expected a JAX array like the other arguments, got Tensor"
        ):
            k.add_bias(*args)
    np.testing.assert_array_equal(k.add_bias(ours, np.ones(2, np.float32)), [2, 2])  # NumPy's do, as in JAX


def test_memory_does_not_grow():
    command = [sys.executable, str(HERE.parents[1] / "support" / "growth.py"), "jax", "20000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 512  # KiB: a leak of 32 bytes a call would be more
