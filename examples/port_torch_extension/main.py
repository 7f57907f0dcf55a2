"""The ported ops from NumPy, PyTorch and JAX. compare.py runs the extension that they come from beside them."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import kernpack
import numpy as np
import torch

jax.config.update("jax_enable_x64", True)  # row numbers are 64-bit integers
k = kernpack.load(Path(__file__).with_name("segment_csr.cc"))
rows = np.arange(12, dtype=np.float32).reshape(6, 2)
indptr = np.array([0, 2, 2, 6])

print("NumPy:", k.segment_sum_csr(rows, indptr).tolist())

src = torch.from_numpy(rows).double().requires_grad_()
for name in ("sum", "mean", "min", "max"):
    op = getattr(k, f"segment_{name}_csr")
    results = op(src, torch.from_numpy(indptr))
    out = results if name in ("sum", "mean") else results[0]
    expected = torch.segment_reduce(src, name, offsets=torch.from_numpy(indptr), axis=0, initial=None)
    filled = [0, 2]  # of an empty segment, segment_reduce gives NaN or infinity
    gradients = [torch.autograd.grad(each[filled].square().sum(), src)[0] for each in (out, expected)]
    print(f"PyTorch, {name}:", torch.equal(out[filled], expected[filled]), torch.allclose(*gradients))

mean = jax.jit(jax.grad(lambda x: k.segment_mean_csr(x, jnp.asarray(indptr)).sum()))(jnp.asarray(rows))
print("JAX, jit of grad:", mean[:, 0].tolist())

try:
    k.segment_sum_csr(rows, np.array([0, 7]))
except ValueError as error:
    print("Refused:", error)
