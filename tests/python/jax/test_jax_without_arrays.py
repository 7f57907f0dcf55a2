"""A call without an array, because the function takes none, an empty list or None, gives JAX's arrays where JAX is tracing."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import kernpack
import kernpack.jax
import numpy as np
import pytest
from jax_modules import run_python

SOURCE = """
void join(kp::ListView<kp::TensorView> xs, int64_t n, kp::MutTensorView o) {
  for (int64_t i = 0; i < n; ++i) o.data_ptr<float>()[i] = static_cast<float>(xs.size());
}
void count(int64_t n, kp::MutTensorView o) { for (int64_t i = 0; i < n; ++i) o.data_ptr<float>()[i] = static_cast<float>(i); }
void maybe(std::optional<kp::TensorView> x, int64_t n, kp::MutTensorView o, kp::MutTensorView p) {
  for (int64_t i = 0; i < n; ++i) o.data_ptr<float>()[i] = p.data_ptr<float>()[i] = x ? 1 : 2;
}
void twice(kp::TensorView x, kp::MutTensorView o) { o.data_ptr<float>()[0] = 2 * x.data_ptr<float>()[0]; }
"""
TEXTS = {
    "join": "(xs: list[f32[_]], n: int) -> (o: f32[n])",
    "count": "(n: int) -> (o: f32[n])",
    "maybe": "(x: f32[_]?, n: int) -> (o: f32[n], p: f32[n])",
    "twice": "(x: f32[]) -> (o: f32[1])",
}
EXPECTED = [[0], [0, 1], [2], [2], [3]]


@pytest.fixture(scope="module")
def k():
    return kernpack.load_inline(SOURCE, TEXTS, name="jax_without_arrays")


def every(f):
    return [f.join([], 1), f.count(2), *f.maybe(None, 1), f.twice(1.5)]


def lists(found):
    assert all(isinstance(each, jax.Array) for each in found)
    return [each.tolist() for each in found]


def test_inside_jit(k):
    assert lists(jax.jit(lambda: every(k))()) == EXPECTED
    assert lists(jax.jit(lambda x: [x + each for each in every(k)])(jnp.zeros(1))) == EXPECTED
    assert "jax_without_arrays.count" in str(jax.make_jaxpr(lambda: k.count(2))())


def test_in_every_transformation(k):
    ones = jnp.ones(2)
    assert jax.grad(lambda x: (x * k.count(2)).sum())(ones).tolist() == [0, 1]
    assert jax.jit(jax.grad(lambda x: (x * k.count(2)).sum()))(ones).tolist() == [0, 1]
    assert jax.vmap(lambda x: x + k.count(2))(jnp.zeros((1, 2))).tolist() == [[0, 1]]
    assert jax.lax.map(lambda x: x + k.count(2), jnp.zeros((1, 2))).tolist() == [[0, 1]]
    assert jax.lax.scan(lambda x, _: (x + k.count(2), None), jnp.zeros(2), length=3)[0].tolist() == [0, 3]
    assert jax.eval_shape(lambda: k.count(2)).shape == (2,)


def test_over_many_devices(k, devices):
    mesh = jax.make_mesh((8,), ("data",))
    split = jax.device_put(jnp.zeros(16), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data")))
    assert jax.jit(lambda x: x + k.count(16))(split).tolist() == list(range(16))


def test_without_jit_and_in_it_again(k):
    with jax.disable_jit():  # which nobody can tell from a program being traced
        assert lists(every(k)) == EXPECTED
    assert type(k.count(1)) is kernpack.Tensor
    assert lists(every(kernpack.jax.ops(k))) == EXPECTED
    assert [type(each) for each in every(k)] == [kernpack.Tensor] * 5
    assert lists(jax.jit(lambda: every(k))()) == EXPECTED


def test_numpys_arrays_stay_numpys(k):
    assert isinstance(jax.jit(lambda: [type(k.twice(np.ones((), np.float32))) is np.ndarray])()[0], jax.Array)


def test_wrong_arguments_have_the_words_of_eager_calls(k):
    for call in (k.count, jax.jit(lambda n: k.count("2"))):
        with pytest.raises(TypeError, match=r"^count: n: expected int"):
            call("2") if call is k.count else call(1)


FIRST = """
import sys, kernpack
k = kernpack.load(sys.argv[1])
before = type(k.count(1)).__module__
import jax
assert "kernpack.jax" not in sys.modules
print(before, jax.jit(lambda: k.count(2))(), type(k.count(1)).__name__)
"""


def test_jax_may_be_imported_later(k):
    assert run_python(FIRST, str(k.path)) == "kernpack [0. 1.] Tensor\n"
