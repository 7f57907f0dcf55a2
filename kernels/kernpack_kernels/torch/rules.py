"""Which types and devices the kernels take, what a rule says of a module, and how both are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from kernpack_kernels.torch import functional

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
# The types of device that each function runs on: kernpack-kernels-cuda adds cuda to some.
DEVICES = {
    name: frozenset((variant["target"] or "cpu").split()[0] for variant in function.variants) & {"cpu", "cuda"}
    | {"cpu"}
    for name, function in functional.K.functions.items()
}
OWN = "_kernpack_patch"  # on each module that computes otherwise since: the replacement's state
SCALES = (1e-3, 1.0, 1e3)  # of the numbers that replacements are tried on


def runs_on(name: str, device: torch.device) -> bool:
    return device.type in DEVICES[name]


def fits(name: str, x: torch.Tensor) -> bool:
    """True if the kernel of that name accepts the tensor; else the original code computes this call."""
    return runs_on(name, x.device) and x.dtype in DTYPES


def misfit(name: str, weight: torch.Tensor) -> str:
    """ "" where the kernel takes tensors like the weight; else what is said."""
    if fits(name, weight):
        return ""
    on = "the CPU and on CUDA devices" if "cuda" in DEVICES[name] else "the CPU"
    more = "; kernpack-kernels-cuda adds CUDA devices" if weight.device.type == "cuda" and on == "the CPU" else ""
    return f"is on {weight.device}, of {weight.dtype}: {name} takes floating-point tensors on {on}{more}"


@dataclass(frozen=True)
class Replacement:
    forward: Callable[..., Any] | None  # None: the module stays as it is
    by: str
    note: str = ""
    state: Any = None  # what `forward` finds in module._kernpack_patch


def of_torch(module: torch.nn.Module) -> Replacement | None:
    """torch.nn's own Transformer."""
    if isinstance(module, torch.nn.TransformerEncoderLayer):
        why = "calls none of its modules in eval mode without gradients, unless torch.backends.mha.set_fastpath_enabled(False)"
    elif isinstance(module, torch.nn.MultiheadAttention):
        why = "computes with torch.nn.functional's attention"
    else:
        return None
    return Replacement(None, "", why)


def uses(names: list[str]) -> str:
    """The reason for a forward whose code a trial can't show."""
    return f"its code uses {', '.join(names)}: a trial can't show that the kernel computes the same"


def rows(*shape: int, dtype: torch.dtype, device: Any = "cpu", scale: float = 1.0) -> torch.Tensor:
    """Numbers of both signs up to 2 * scale, the same each time."""
    count = torch.Size(shape).numel()
    x = torch.sin(torch.arange(count, dtype=torch.float64) * 0.7 + 0.1).mul(2 * scale)
    return x.reshape(shape).to(device, dtype)


def differs(
    before: Any, after: torch.Tensor, exact: torch.Tensor | None = None, computed: torch.dtype | None = None
) -> str:
    """ "" where a module and its replacement gave the same; else what differs. exact: the module's in f64, where both compute in a
    shorter type: then the replacement may not be further from it. computed: that type, where it isn't the result's."""
    if not isinstance(before, torch.Tensor) or before.shape != after.shape or before.dtype != after.dtype:
        return "doesn't return one tensor like its argument"
    room = {torch.float32: 1e-4, torch.float64: 1e-9}.get(computed or before.dtype, 3e-2)
    finite = before.isfinite()
    if not torch.equal(finite, after.isfinite()):
        return "computes something else: other elements are finite"
    size = before[finite].abs().max().double() if finite.any() else torch.zeros(())
    distance = (before - after)[finite].abs().max().double() if finite.any() else torch.zeros(())
    if distance > room * size:
        return f"computes something else: differs by {distance:.2g} of {size:.2g}"
    if exact is not None and finite.all():
        ours, theirs = ((x.double() - exact.double()).norm() for x in (after, before))
        if ours > 1.05 * theirs + torch.finfo(computed or before.dtype).eps / 64 * exact.double().norm():
            return f"is more exact: its distance from f64 is {theirs:.2g}, the kernel's {ours:.2g}"
    return ""
