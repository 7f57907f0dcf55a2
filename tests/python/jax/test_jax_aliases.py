"""An array that is written and given a second time is refused in the words of eager calls."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import kernpack
import numpy as np
import pytest

SOURCE = """
void add_to(kp::MutTensorView x, kp::TensorView y) {
  for (int64_t i = 0; i < x.numel(); ++i) x.data_ptr<float>()[i] += y.data_ptr<float>()[i];
}
void add_all(kp::ListView<kp::MutTensorView> xs, kp::ListView<kp::TensorView> ys) {
  for (int64_t i = 0; i < xs.size(); ++i) add_to(xs[i], ys[i]);
}
"""
TEXTS = {"add_to": "(x!: f32[...], y: f32[...]) -> ()", "add_all": "(xs!: list[f32[N]], ys: list[f32[N]]) -> ()"}
CALLS = {
    "two_parameters": lambda k, x: k.add_to(x, x),
    "by_keyword": lambda k, x: k.add_to(y=x, x=x),
    "an_item_of_another_list": lambda k, x: k.add_all([1 * x, x], [1 * x, x]),
    "two_items": lambda k, x: k.add_all([x, x], [1 * x, 1 * x]),
}


@pytest.fixture(scope="module")
def k():
    return kernpack.load_inline(SOURCE, TEXTS, name="jax_aliases")


@pytest.mark.parametrize("name", CALLS)
def test_refused_as_in_numpy(k, name):
    call = CALLS[name]
    with pytest.raises(ValueError, match="expected memory of its own") as wanted:
        call(k, np.ones(2, np.float32))
    ways = {
        "jit": jax.jit(lambda x: call(k, x)),
        "vmap": jax.jit(jax.vmap(lambda x: call(k, x))),
    }
    for way, run in ways.items():
        with pytest.raises(ValueError, match="expected memory of its own") as found:
            run(jnp.ones((3, 2) if way == "vmap" else 2))
        assert str(found.value) == str(wanted.value)
    with jax.disable_jit(), pytest.raises(ValueError, match="expected memory of its own"):
        call(k, jnp.ones(2))


def test_eager_calls_that_write_are_refused_first(k):
    x = jnp.ones(2)
    with pytest.raises(TypeError, match="JAX arrays are immutable"):
        k.add_to(x, x)


def test_copies_and_empty_arrays_are_taken(k):
    assert jax.jit(lambda x: k.add_to(x, jnp.copy(x)))(jnp.ones(2)).tolist() == [2, 2]
    assert jax.jit(lambda x: k.add_to(x, x))(jnp.ones(0)).tolist() == []
    assert jax.jit(lambda x, y: k.add_to(x, y), donate_argnums=0)(jnp.ones(2), jnp.ones(2)).tolist() == [2, 2]


def test_equal_arrays_are_not_one(k):
    x = jnp.ones(2)
    assert jax.jit(lambda x, y: k.add_to(x, y))(x, x).tolist() == [2, 2]
