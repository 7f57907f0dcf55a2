"""For each framework: its array, a call of the kernel, and the fastest way to the average without a kernel."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

ALPHA = 0.1


@dataclass(frozen=True)
class Framework:
    """kernel: the call of the kernel. own: the average without the kernel. The names are the code that is printed for both."""

    name: str
    version: str
    array: Any
    kernel: Callable[[Any], Any]
    kernel_name: str
    own: Callable[[Any], Any]
    own_name: str


def numpy(module: Any, x: Any) -> Framework:
    import numpy as np

    def own(x: Any) -> Any:
        return np.fromiter(_averages(x), np.float32, len(x))

    return Framework("NumPy", np.__version__, x, module.ema, "k.ema(x)", own, "a loop over x.tolist()")


def torch(module: Any, x: Any) -> Framework:
    import torch

    def own(x: Any) -> Any:
        return torch.frombuffer(array("f", _averages(x)), dtype=torch.float32)

    tensor = torch.from_numpy(x)
    return Framework("PyTorch", torch.__version__, tensor, module.ema, "k.ema(x)", own, "a loop over x.tolist()")


def jax(module: Any, x: Any) -> Framework:
    import jax

    def own(x: Any) -> Any:
        def step(average: Any, value: Any) -> tuple[Any, Any]:
            average = average + ALPHA * (value - average)
            return average, average

        return jax.lax.scan(step, x[0], x)[1]

    placed = jax.device_put(x, jax.devices("cpu")[0])  # the kernel's code is for CPUs
    names = ("jax.jit(k.ema)(x)", "jax.jit of jax.lax.scan")
    return Framework("JAX", jax.__version__, placed, jax.jit(module.ema), names[0], jax.jit(own), names[1])


def _averages(x: Any) -> Iterator[float]:
    """A Python loop, because operations of a framework on single values are slower."""
    return accumulate(x.tolist(), lambda average, value: average + ALPHA * (value - average))


# By the name that pip has for it.
ALL: dict[str, Callable[[Any, Any], Framework]] = {"numpy": numpy, "torch": torch, "jax": jax}
