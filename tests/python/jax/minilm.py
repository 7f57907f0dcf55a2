"""MiniLM from its real weights, as examples/minilm_train has it, for the tests of this folder."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "minilm_train"))

import inputs
import jax_step
import model

WEIGHTS = inputs.weights()
BATCH = inputs.batches()[0]  # 16 sentences
TRAINED = ["encoder.layer.0.attention.self.query.weight", "embeddings.LayerNorm.bias"]  # whose gradients are looked at


def embed(k):
    """A function of weights and batch."""
    return lambda weights, batch: model.embed(k, weights, batch)


def loss_and_gradients(k):
    """A function of weights and batch."""

    def run(weights, batch):
        trained = {name: weights[name] for name in TRAINED}
        rest = {name: array for name, array in weights.items() if name not in TRAINED}
        return jax.value_and_grad(lambda *given: jax_step.compute_loss(k, *given))(trained, rest, batch)

    return run


def close(got, expected, tolerance=2e-5):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance), got, expected)
