"""Memory after many calls with array attributes, eager and in a program: python growth.py MODULE [CALLS], in KiB grown.

A million calls is what the figure asks for: python growth.py jax_kernels.so 1000000.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import kernpack


def resident() -> int:
    """KiB."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4


def main(path: str, calls: int) -> None:
    k = kernpack.load(path)
    x, weights = jnp.ones(4), [0.5, 0.25] * 32
    xs = [x] * 64
    step = jax.jit(lambda xs: k.weighted_sum(xs, weights, n=4))

    def run(times: int) -> None:
        for _ in range(times):
            k.axpb(x, a=3, b=0.25)
            step(xs).block_until_ready()
        for _ in range(times // 10):
            k.weighted_sum(xs, weights, n=4)  # lists take the longer way

    run(max(1000, calls // 10))
    before = resident()
    run(calls)
    print(resident() - before)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
