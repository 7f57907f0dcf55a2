"""Errors on JAX arrays: the types and words of the NumPy path, at trace time; a kernel's own errors keep their type."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

BAD_CALLS = [
    lambda k, xp: k.add_bias(xp.ones((2, 2), np.float32)),
    lambda k, xp: k.add_bias(xp.ones(2, np.float16)),
    lambda k, xp: k.add_bias(xp.ones(2, np.float32), xp.ones(3, np.float32)),
    lambda k, xp: k.axpb(xp.ones(2, np.float32), a=1.5),
    lambda k, xp: k.axpb(xp.ones(2, np.float32), a="two"),
    lambda k, xp: k.axpb(xp.ones(2, np.float32), b=None),
    lambda k, xp: k.axpb(xp.ones(2, np.float32), c=1),
    lambda k, xp: k.axpb(xp.ones(2, np.float32), 3),
    lambda k, xp: k.weighted_sum([xp.ones(2, np.float32), xp.ones(3, np.float32)], [1.0, 1.0], n=2),
    lambda k, xp: k.fill(xp.ones(1, np.float32), n=-1, to="f32", one=True, how="fast"),
    lambda k, xp: k.fill(xp.ones(1, np.float32), n=1, to="f32", one=True, how="soon"),
    lambda k, xp: k.fill(xp.ones(1, np.float32), n=1, to="f32", one=1, how="fast"),
    lambda k, xp: k.axpb(xp.ones(2, np.float32), a=2**63),
]


@pytest.mark.parametrize("call", BAD_CALLS, ids=range(len(BAD_CALLS)))
def test_reads_like_the_numpy_path(k, call):
    with pytest.raises((TypeError, ValueError, OverflowError)) as expected:
        call(k, np)
    with pytest.raises(type(expected.value)) as eager:
        call(k, jnp)
    assert str(eager.value) == str(expected.value)
    with pytest.raises(type(expected.value)) as traced:
        jax.jit(lambda: call(k, jnp))()
    assert str(traced.value) == str(expected.value)


def test_a_kernels_own_error_is_a_valueerror_eagerly(k):
    with pytest.raises(ValueError, match=r"^positive: x: expected no negative item, got one at 1$"):
        k.positive(jnp.array([1.0, -1.0]))


def test_a_kernels_own_error_under_jit(k):
    import kernpack.jax

    step = jax.jit(k.positive)
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"\[ValueError\] positive: x: expected no negative"):
        jax.block_until_ready(step(jnp.array([-1.0])))
    for _ in range(3):
        with pytest.raises(ValueError, match=r"^positive: x: expected no negative"), kernpack.jax.errors():
            jax.block_until_ready(step(jnp.array([-1.0])))
    np.testing.assert_array_equal(step(jnp.array([3.0])), [3])


def test_tracer_as_static_argument(k):
    with pytest.raises(TypeError, match=r"axpb: a: expected int, got a value that JAX is tracing.*static_argnames"):
        jax.jit(lambda x, a: k.axpb(x, a=a))(jnp.ones(2), 3)
    scaled = jax.jit(lambda x, a: k.axpb(x, a=a, b=0.0), static_argnames="a")
    np.testing.assert_array_equal(scaled(jnp.ones(2), a=7), [7, 7])


def test_out_is_refused(k):
    with pytest.raises(TypeError, match="axpb: out: these arrays are immutable"):
        k.axpb(jnp.ones(2), out=jnp.ones(2))


def test_function_without_signature(k):
    with pytest.raises(TypeError, match="untyped"):
        jax.jit(k.untyped)(jnp.ones(2), jnp.ones(2))


def test_another_frameworks_array(k):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with pytest.raises(
        TypeError, match=r"add_bias: bias: expected a JAX array .*, got Tensor: pass jax\.dlpack\.from_dlpack\(x\)$"
    ):
        k.add_bias(jnp.ones(2), torch.ones(2))


def test_key_arrays_are_no_tensors(k):
    with pytest.raises(TypeError, match=r"copy: x: expected a dtype .*, got key<fry>: pass jax\.random\.key_data\(x\)"):
        k.copy(jax.random.key(0))
