"""Memory after many calls with array attributes, eager and through the framework: python growth.py jax|torch [CALLS].

Prints the KiB grown. A million calls is what the figure asks for.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path

import kernpack

SOURCE = """
void weigh(kp::ListView<kp::TensorView> xs, kp::ListView<double> weights, int64_t factor, kp::MutTensorView out) {
  for (int64_t i = 0; i < out.numel(); ++i) {
    double sum = 0;
    for (size_t j = 0; j < xs.size(); ++j) sum += weights[j] * xs[j].data_ptr<float>()[i];
    out.data_ptr<float>()[i] = static_cast<float>(sum * static_cast<double>(factor));
  }
}
void plain(kp::TensorView x, int64_t factor, double shift, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = x.data_ptr<float>()[i] * static_cast<float>(factor + shift);
}
"""
FUNCTIONS = {
    "weigh": "(xs: list[f32[N]], weights: list[float], *, factor: int = 1) -> (out: f32[N])",
    "plain": "(x: f32[N], *, factor: int, shift: float) -> (out: f32[N])",
}
WEIGHTS = [0.5, 0.25] * 32
TENSORS = 4


def resident() -> int:
    """KiB."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4


def jax_calls(k: kernpack.Module) -> Callable[[int], None]:
    import jax
    import jax.numpy as jnp

    x = jnp.ones(4)
    xs = [x] * TENSORS
    step = jax.jit(lambda xs: k.weigh(xs, WEIGHTS))

    def run(times: int) -> None:
        for _ in range(times):
            k.plain(x, factor=3, shift=0.25)
            step(xs).block_until_ready()
        for _ in range(times // 10):
            k.weigh(xs, WEIGHTS)  # lists take the longer way

    return run


def torch_calls(k: kernpack.Module) -> Callable[[int], None]:
    import kernpack.torch
    import torch

    ops = kernpack.torch.ops(k)
    x = torch.ones(4)
    xs = [x] * TENSORS

    def run(times: int) -> None:
        for _ in range(times):
            k.weigh(xs, WEIGHTS)
            ops.weigh(xs, WEIGHTS)

    return run


def main(framework: str, calls: int) -> None:
    make = {"jax": jax_calls, "torch": torch_calls}[framework]
    run = make(kernpack.load_inline(SOURCE, FUNCTIONS, name="growth"))
    run(max(1000, calls // 10))
    before = resident()
    run(calls)
    print(resident() - before)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
