"""For each framework: a function from NumPy inputs to NumPy embeddings, everything between them in the framework's arrays."""

import functools

import numpy as np
from model import embed


def numpy_embedder(k, weights):
    return functools.partial(embed, k, weights)


def torch_embedder(k, weights):
    import torch

    def tensors(arrays):
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    ours = tensors(weights)

    @torch.no_grad()
    def run(inputs):
        return embed(k, ours, tensors(inputs)).numpy()

    return run


def jax_embedder(k, weights):
    import jax

    ours = jax.device_put(weights)
    compiled = jax.jit(functools.partial(embed, k))

    def run(inputs):
        return np.asarray(compiled(ours, inputs))

    return run


EMBEDDERS = {"NumPy": numpy_embedder, "PyTorch": torch_embedder, "JAX jit": jax_embedder}
