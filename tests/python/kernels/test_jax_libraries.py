"""kernpack_kernels.jax inside modules of equinox and of flax: a block of a transformer beside the same one in plain JAX."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")
import jax.numpy as jnp  # noqa: E402  (needs jax)
import kernpack_kernels.jax as kj  # noqa: E402

WIDTH, HEADS, HIDDEN, CLASSES = 32, 4, 48, 11
SHAPES = {
    "norm": (WIDTH,),
    "qkv": (WIDTH, 3 * WIDTH),
    "out": (WIDTH, WIDTH),
    "second_norm": (WIDTH,),
    "gate_up": (WIDTH, 2 * HIDDEN),
    "down": (HIDDEN, WIDTH),
    "classes": (WIDTH, CLASSES),
}


def weights():
    rng = np.random.default_rng(0)
    return {name: jnp.asarray(rng.normal(size=shape) * 0.3, jnp.float32) for name, shape in SHAPES.items()}


def data():
    rng = np.random.default_rng(1)
    return jnp.asarray(rng.normal(size=(2, 5, WIDTH)), jnp.float32), jnp.asarray(rng.integers(0, CLASSES, (2, 5)))


class Plain:
    """Plain JAX under the names of kernpack_kernels.jax."""

    @staticmethod
    def rms_norm(x, scale):
        return x / jnp.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * jnp.asarray(scale)

    @staticmethod
    def swiglu(gate, up):
        return jax.nn.silu(gate) * up

    @staticmethod
    def dot_product_attention(q, k, v, is_causal):
        return jax.nn.dot_product_attention(q, k, v, is_causal=is_causal)

    @staticmethod
    def softmax_cross_entropy_with_integer_labels(logits, labels):
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1)[..., 0]


def loss(m, ops, x, labels):
    """Of a module whose fields are SHAPES'."""
    h = ops.rms_norm(x, m.norm)
    q, k, v = jnp.split((h @ jnp.asarray(m.qkv)).reshape(*x.shape[:-1], 3 * HEADS, WIDTH // HEADS), 3, -2)
    x = x + ops.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape) @ jnp.asarray(m.out)
    gate, up = jnp.split(ops.rms_norm(x, m.second_norm) @ jnp.asarray(m.gate_up), 2, -1)
    x = x + ops.swiglu(gate, up) @ jnp.asarray(m.down)
    return ops.softmax_cross_entropy_with_integer_labels(x @ jnp.asarray(m.classes), labels).mean()


def assert_same(found, expected):
    assert len(found) == len(expected) > 0
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-5)


@pytest.fixture
def block():
    eqx = pytest.importorskip("equinox", reason="equinox is not installed: requirements/test.txt installs it")

    class Block(eqx.Module):
        norm: jax.Array
        qkv: jax.Array
        out: jax.Array
        second_norm: jax.Array
        gate_up: jax.Array
        down: jax.Array
        classes: jax.Array

    return eqx, Block(**weights())


def test_an_equinox_module_under_jit_and_grad(block):
    eqx, module = block
    of = {ops: eqx.filter_jit(eqx.filter_value_and_grad(lambda m, o=ops: loss(m, o, *data()))) for ops in (kj, Plain)}
    value, slopes = of[kj](module)
    expected, expected_slopes = of[Plain](module)
    np.testing.assert_allclose(value, expected, atol=1e-6)
    assert_same(jax.tree.leaves(slopes), jax.tree.leaves(expected_slopes))


def test_an_equinox_module_of_one_sequence_under_vmap(block):
    """As equinox's own layers are written."""
    eqx, module = block

    def mean(module, ops):
        one = eqx.filter_vmap(lambda m, x, y: loss(m, ops, x[None], y[None]), in_axes=(None, 0, 0))
        return one(module, *data()).mean()

    found, expected = (eqx.filter_jit(eqx.filter_grad(mean))(module, ops) for ops in (kj, Plain))
    assert_same(jax.tree.leaves(found), jax.tree.leaves(expected))


def test_a_flax_nnx_module_under_jit_and_grad():
    """Its parameters are given to the functions as they are."""
    nnx = pytest.importorskip(
        "flax.nnx", reason="flax is not installed: its dependencies are large, so no requirements name it"
    )

    class Block(nnx.Module):
        def __init__(self):
            for name, value in weights().items():
                setattr(self, name, nnx.Param(value))

    found, expected = (
        nnx.jit(nnx.value_and_grad(lambda m, o=ops: loss(m, o, *data())))(Block()) for ops in (kj, Plain)
    )
    np.testing.assert_allclose(found[0], expected[0], atol=1e-6)
    assert_same(jax.tree.leaves(found[1]), jax.tree.leaves(expected[1]))
