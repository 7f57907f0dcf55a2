"""Eager calls and jit: values, static arguments, results."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_call_matches_numpy(k, wrap):
    expected = k.axpb(X, a=3, b=0.25)
    got = wrap(lambda x: k.axpb(x, a=3, b=0.25))(jnp.asarray(X))
    assert isinstance(got, jax.Array)
    np.testing.assert_array_equal(got, expected)


def test_defaults_are_filled_in(k):
    np.testing.assert_array_equal(k.axpb(jnp.asarray(X)), X * 2 + 0.5)


@pytest.mark.parametrize(("b", "shown"), [(-0.0, "-0.0"), (0.0, "0.0"), (float("nan"), "nan"), (float("inf"), "inf")])
def test_floats_are_told_apart_by_their_bits(k, b, shown):
    negative_zero = jnp.full((1,), -0.0, jnp.float32)
    assert str(np.asarray(k.axpb(negative_zero, a=1, b=b))[0]) == shown


def test_nan_as_static_argument_does_not_compile_again(k):
    from kernpack.jax import _op

    k.axpb(jnp.asarray(X), b=float("nan"))
    before = _op.program.cache_info().misses
    k.axpb(jnp.asarray(X), b=float("nan"))
    assert _op.program.cache_info().misses == before


def test_several_results(k):
    positive, count = jax.jit(k.two_results)(jnp.array([1.0, -1.0, 2.0]))
    np.testing.assert_array_equal(positive, [1, 0, 2])
    assert count.shape == ()
    assert count == 2


def test_optional_argument(k):
    x = jnp.ones(2)
    np.testing.assert_array_equal(k.add_bias(x), [101, 101])
    np.testing.assert_array_equal(jax.jit(k.add_bias)(x, x), [2, 2])
    np.testing.assert_array_equal(k.add_bias(x, bias=None), [101, 101])


def test_lists_of_tensors_and_floats(k):
    xs = [jnp.full((3,), value) for value in (1.0, 10.0, 100.0)]
    np.testing.assert_array_equal(k.weighted_sum(xs, [1.0, 0.5, -0.0], n=3), [6, 6, 6])
    np.testing.assert_array_equal(jax.jit(lambda xs: k.weighted_sum(xs, [1.0, 1.0, 1.0], n=3))(xs), [111, 111, 111])


def test_dtype_bool_and_str_arguments(k):
    x = jnp.ones(1)
    for dtype in (jnp.int16, np.dtype("int16"), "i16", "int16"):
        got = k.fill(x, n=4, to=dtype, one=True, how="fast")
        assert got.dtype == jnp.int16
        np.testing.assert_array_equal(got, [0x0101] * 4)
    np.testing.assert_array_equal(k.fill(x, n=2, to="u8", one=False, how="slow"), [0, 0])


def test_workspace_is_hidden(k):
    x = jnp.arange(5, dtype=jnp.float32)
    got = jax.jit(k.scratch)(x)
    assert isinstance(got, jax.Array)
    np.testing.assert_array_equal(got, x)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 4)])
def test_zero_size(k, shape):
    assert k.axpb(jnp.zeros(shape, jnp.float32)).shape == shape


def test_scan_and_while_loop(k):
    def body(carry, _):
        return k.axpb(carry, a=1, b=1.0), None

    carry, _ = jax.jit(lambda x: jax.lax.scan(body, x, length=10))(jnp.zeros(2))
    np.testing.assert_array_equal(carry, [10, 10])
    looped = jax.lax.while_loop(lambda x: x[0] < 5, lambda x: k.axpb(x, a=1, b=1.0), jnp.zeros(2))
    np.testing.assert_array_equal(looped, [5, 5])


DTYPES = ["bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32", "complex64", "bfloat16"]
DTYPES += ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3b11fnuz", "int4", "uint4"]


@pytest.mark.parametrize("name", DTYPES)
def test_each_dtype_goes_through_unchanged(k, name):
    dtype = getattr(ml_dtypes, name, None) or np.dtype(name)
    x = jnp.asarray(np.array([0, 1, 2, 3, 4], np.float32)).astype(dtype)
    got = jax.jit(k.copy)(x)
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(got).astype(np.complex64), np.asarray(x).astype(np.complex64))


def test_written_in_place_under_jit_and_not_in_place_outside(k):
    cache, x = jnp.ones(3), jnp.full((3,), 5.0)
    np.testing.assert_array_equal(jax.jit(k.accumulate)(cache, x), [6, 6, 6])
    np.testing.assert_array_equal(cache, [1, 1, 1])
    donated = jax.jit(k.accumulate, donate_argnums=0)(jnp.ones(3), x)
    np.testing.assert_array_equal(donated, [6, 6, 6])
    with pytest.raises(TypeError, match="accumulate: cache: is written in place, and JAX arrays are immutable"):
        k.accumulate(cache, x)
    np.testing.assert_array_equal(cache, [1, 1, 1])


def test_explicit_ops(k):
    import kernpack.jax

    ops = kernpack.jax.ops(k)
    np.testing.assert_array_equal(ops.axpb(jnp.asarray(X), a=1), X + 0.5)
    assert "axpb" in dir(ops)
    with pytest.raises(AttributeError):
        _ = ops.nothing_like_it


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16])
def test_numbers_as_rank_0_tensors(k, dtype):
    x = jnp.ones(2, dtype)
    for by in (2, 2.0, True, jnp.asarray(2, dtype)):
        assert k.shifted(x, by).dtype == dtype
    np.testing.assert_array_equal(k.shifted(x, 2.0), k.shifted(x, jnp.asarray(2, dtype)))
    traced = jax.jit(k.shifted)(x, 2.0)  # JAX calls its dtype weak
    assert traced.dtype == dtype
    np.testing.assert_array_equal(traced, k.shifted(x, 2.0))
    with pytest.raises(TypeError, match="shifted: by: expected dtype"):
        k.shifted(x, jnp.ones((), jnp.float16))
    assert k.counted(x, 3).dtype == jnp.int32
    with pytest.raises(TypeError, match="counted: n: expected dtype i32"):
        k.counted(x, 2.5)


def test_constants_of_a_program_that_is_being_traced(k):
    x = jnp.ones(2)
    for _ in range(2):
        np.testing.assert_array_equal(jax.jit(lambda y: y + k.axpb(x, a=3, b=0.0))(x), [4, 4])
