"""Calls the kernel from NumPy, and from PyTorch and JAX where they are installed."""

import importlib.util

import kernpack
import numpy as np

kernels = kernpack.load("row_norm")
x = np.arange(6, dtype=np.float32).reshape(2, 3)
print("NumPy  ", kernels.row_norm(x))

if importlib.util.find_spec("torch"):
    import torch

    print("PyTorch", kernels.row_norm(torch.from_numpy(x)))

if importlib.util.find_spec("jax"):
    import jax

    print("JAX    ", jax.jit(kernels.row_norm)(x))

try:
    kernels.row_norm(x.astype(np.float64))
except TypeError as error:
    print("Refused:", error)
