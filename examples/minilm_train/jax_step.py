"""Training in JAX with our kernels and their declared gradients: one jitted step."""

import functools
import itertools

import jax
import jax.numpy as jnp
import kernpack
from inputs import FROZEN, RATE, SCALE  # puts the model's folder on the path
from model import embed


def compute_loss(k, trained, frozen, batch):
    """Each sentence must find its partner among the eight of the other side."""
    left, right = jnp.split(embed(k, trained | frozen, batch), 2)
    scores = left @ right.T * SCALE
    found = [-jnp.diagonal(jax.nn.log_softmax(s)).mean() for s in (scores, scores.T)]
    return sum(found) / 2


@functools.partial(jax.jit, static_argnums=0, donate_argnums=1)
def step(k, trained, frozen, batch):
    """The loss, and the weights after one step of gradient descent."""
    loss, gradients = jax.value_and_grad(functools.partial(compute_loss, k))(trained, frozen, batch)
    return loss, jax.tree.map(lambda weight, gradient: weight - RATE * gradient, trained, gradients)


def ours(arrays, batches):
    """Yields the loss of each step."""
    k = kernpack.load("kernpack_kernels")
    trained = {name: jnp.array(array) for name, array in arrays.items() if name != FROZEN}
    frozen = {FROZEN: jnp.array(arrays[FROZEN])}
    for batch in itertools.cycle(batches):
        loss, trained = step(k, trained, frozen, batch)
        yield float(loss)
