"""Properties of a whole process: 64-bit types, two versions of a module, threads, memory, registration."""

from __future__ import annotations

import resource
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
from jax_modules import compile_module, run_python

X64 = """
import sys, jax, jax.numpy as jnp, kernpack
k = kernpack.load(sys.argv[1])
x = jnp.ones(1)
try:
    print(k.fill(jnp.ones(1, jnp.float32), n=2, to="i64", one=True, how="fast").dtype)
except TypeError as error:
    print(error)
"""


def test_64_bit_results_need_x64(module_path):
    off = run_python(X64, str(module_path), JAX_ENABLE_X64="0")
    assert off == (
        "fill: result 0 is i64: JAX's 64-bit types are off; jax.config.update('jax_enable_x64', True) turns them on\n"
    )
    assert run_python(X64, str(module_path), JAX_ENABLE_X64="1") == "int64\n"


def test_jax_is_not_imported_by_kernpack(module_path):
    code = (
        "import sys, kernpack; kernpack.load(sys.argv[1])\nprint('jax' in sys.modules, 'kernpack.jax' in sys.modules)"
    )
    assert run_python(code, str(module_path)) == "False False\n"


# In a process of its own: where both are loaded, programs that name a module by its major version can't tell which is meant.
TWO_VERSIONS = """
import sys, jax, jax.numpy as jnp, kernpack
k, other = (kernpack.load(path) for path in sys.argv[1:])
both = jax.jit(lambda x: (k.axpb(x, a=1, b=0.0), other.axpb(x, a=1, b=0.0)))
print([result.tolist() for result in both(jnp.ones(2))])"""


def test_two_versions_of_one_module_live_side_by_side(module_path, tmp_path):
    other = compile_module(tmp_path / "other.so", "-DFACTOR=10")
    assert run_python(TWO_VERSIONS, str(module_path), str(other)) == "[[1.0, 1.0], [10.0, 10.0]]\n"


def test_registration_may_be_repeated():
    from kernpack.jax import _target

    name = _target.target_name()
    _target.target_name.cache_clear()
    assert _target.target_name() == name


def test_threads_may_call_at_once(k):
    step = jax.jit(lambda x: k.axpb(k.axpb(x, a=1, b=1.0), a=2, b=0.0))

    def work(seed: int) -> bool:
        x = jnp.full((64,), float(seed))
        compiled, eager = step(x), k.axpb(x, a=seed, b=0.0)
        return bool((compiled == 2 * (seed + 1)).all() and (eager == seed * seed).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, list(range(16)) * 20))


def test_memory_does_not_grow_with_calls(k):
    weights = [1.0] * 64
    xs = [jnp.ones(4)] * 64

    def chain(value):
        for _ in range(20):
            value = k.weighted_sum([value, *xs[1:]], weights, n=4) * 0.01
        return value

    step = jax.jit(chain)
    step(xs[0]).block_until_ready()

    def run(times: int) -> int:
        for _ in range(times):
            step(xs[0]).block_until_ready()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = run(300)
    assert run(3000) - before < 2048  # KiB, for 60,000 executions with array attributes
