"""Writes the times of calls in this environment, its versions and its active hooks as JSON: scripts/newest runs it, and on the pinned
versions too.

    python tests/newest/figures.py out.json

An earlier out.json keeps the smaller times: the environments take turns, so that a busy moment spoils no comparison.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sys
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import kernpack
import kernpack.jax
import kernpack.torch
import numpy as np
import torch
from kernpack._private import look_for

PACKAGES = ("torch", "jax", "numpy", "apache-tvm-ffi")
SOURCE = """
void add(kp::TensorView a, kp::TensorView b, kp::TensorView c, kp::MutTensorView out) {
  for (int64_t i = 0; i < out.numel(); ++i)
    out.data_ptr<float>()[i] = a.data_ptr<float>()[i] + b.data_ptr<float>()[i] + c.data_ptr<float>()[i];
}
void twice(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < out.numel(); ++i) out.data_ptr<float>()[i] = 2 * x.data_ptr<float>()[i];
}
void twice_backward(kp::TensorView d_out, kp::MutTensorView d_x) { twice(d_out, d_x); }
KP_GRAD(twice, twice_backward);
"""
FUNCTIONS = {
    "add": "(a: f32[*S], b: f32[*S], c: f32[*S]) -> (out: f32[*S])",
    "twice": "(x: f32[...]) -> (out: f32[...])",
    "twice_backward": "(d_out: f32[...]) -> (d_x: f32[...])",
}


def _calls() -> dict[str, Callable[[], Any]]:
    k = kernpack.load_inline(SOURCE, FUNCTIONS, name="newest_figures")
    arrays = [np.ones((4, 8), np.float32)] * 3
    tensors = [torch.ones(4, 8)] * 3
    x, seed = torch.ones(4, 8, requires_grad=True), torch.ones(4, 8)
    of_jax = [jnp.ones((4, 8))] * 3
    return {
        "NumPy": lambda: k.add(*arrays),
        "torch": lambda: k.add(*tensors),
        "torch, forward and backward": lambda: torch.autograd.grad(k.twice(x), x, seed),
        "JAX": lambda: k.add(*of_jax).block_until_ready(),
    }


def _microseconds(call: Callable[[], Any], count: int = 1000) -> float:
    call()
    return min(timeit.repeat(call, number=count, repeat=7)) / count * 1e6


def main() -> None:
    file = Path(sys.argv[1])
    before = json.loads(file.read_text()) if file.exists() else {"microseconds": {}}
    jax.config.update("jax_platforms", "cpu")
    for framework in ("torch", "jax"):
        look_for(framework)
    times = {name: _microseconds(call) for name, call in _calls().items()}
    found = {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "versions": {name: importlib.metadata.version(name) for name in PACKAGES},
        "hooks": kernpack.info()["private_hooks"],
        "microseconds": {name: min(time, before["microseconds"].get(name, time)) for name, time in times.items()},
    }
    file.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
