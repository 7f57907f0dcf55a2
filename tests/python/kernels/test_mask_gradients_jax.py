"""softmax's additive mask has a gradient in JAX: that of x, summed over what the mask was broadcast to."""

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")
jnp = pytest.importorskip("jax.numpy")

SHAPES = [(2, 3, 4, 5), (1, 3, 4, 5), (2, 1, 1, 5), (1, 1, 1, 5)]
RNG = np.random.default_rng(4)


def theirs(x, mask):
    return jax.nn.softmax(x + mask, axis=-1)


def gradients(softmax, d):
    return jax.grad(lambda x, m: (softmax(x, m) * d).sum(), (0, 1))


def arrays(shape, *more):
    return tuple(RNG.normal(size=s).astype(np.float32) for s in ((*more, 2, 3, 4, 5), shape, (2, 3, 4, 5)))


def close(found, expected, **tolerance):
    jax.tree.map(
        lambda f, e: np.testing.assert_allclose(f, e, **({"rtol": 1e-4, "atol": 1e-6} | tolerance)), found, expected
    )


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients_of_added_masks_agree_with_jax(k, shape):
    x, mask, d = map(jnp.asarray, arrays(shape))
    expected = gradients(theirs, d)(x, mask)
    close(gradients(k.softmax, d)(x, mask), expected)
    close(jax.jit(gradients(k.softmax, d))(x, mask), expected)
    (found,) = jax.grad(lambda m: (k.softmax(x, m) * d).sum(), (0,))(mask)
    close(found, expected[1])


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
def test_the_gradient_has_the_masks_dtype(k, dtype):
    x, mask, d = map(jnp.asarray, arrays((1, 3, 1, 5)))
    found = gradients(k.softmax, d)(x, mask.astype(dtype))
    assert [f.dtype for f in found] == [jnp.float32, dtype]
    close(found[1].astype(jnp.float32), gradients(theirs, d)(x, mask)[1], rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("mapped", [(0, None), (None, 0), (0, 0)], ids=str)
def test_gradients_of_added_masks_can_be_batched(k, mapped):
    xs, masks, d = arrays((3, 2, 1, 4, 5), 3)
    x, mask = (jnp.asarray(v if at == 0 else v[0]) for v, at in zip((xs, masks), mapped, strict=True))
    close(jax.vmap(gradients(k.softmax, d), mapped)(x, mask), jax.vmap(gradients(theirs, d), mapped)(x, mask))
    shared = jax.grad(lambda m: jax.vmap(lambda x: (k.softmax(x, m) * d).sum())(jnp.asarray(xs)).sum())
    close(shared(jnp.asarray(masks[0])), sum(gradients(theirs, d)(x, masks[0])[1] for x in xs))


def test_second_order(k):
    x, mask, d = map(jnp.asarray, arrays((1, 3, 1, 5)))

    def of(softmax):
        return jax.grad(lambda x, m: sum((g**2).sum() for g in gradients(softmax, d)(x, m)), (0, 1))(x, mask)

    close(of(k.softmax), of(theirs), atol=1e-5)


def test_minus_infinity_and_boolean_masks(k):
    x, mask, d = arrays((1, 1, 4, 5))
    mask[..., 3:] = -np.inf
    found = gradients(k.softmax, d)(jnp.asarray(x), jnp.asarray(mask))
    close(found, gradients(theirs, d)(jnp.asarray(x), jnp.asarray(mask)))
    kept = jnp.asarray(mask == 0)
    assert np.isfinite(jax.grad(lambda x: (k.softmax(x, kept) * d).sum())(jnp.asarray(x))).all()
