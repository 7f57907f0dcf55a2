"""Which modules the kernels can stand in for, by what the modules have, and how they compute then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from kernpack_kernels.torch import functional

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class Replacement:
    forward: Callable[..., Any] | None  # None: the module stays as it is
    by: str
    note: str = ""
    state: Any = None  # what `forward` finds in module._kernpack_patch


def find(module: torch.nn.Module) -> Replacement | None:
    """None: no kind of module that is looked at."""
    for rule in (_norm, _gated, _gelu):
        found = rule(module)
        if found is not None:
            return found
    return None


def fits(x: torch.Tensor, weight: torch.Tensor | None = None) -> bool:
    """Whether the kernels take it; else what was there before computes, for this call."""
    return x.device.type == "cpu" and x.dtype in DTYPES and (weight is None or weight.dtype == x.dtype)


def agrees(module: torch.nn.Module, forward: Callable[..., Any], state: Any, width: int, weight: Any) -> str:
    """ "" where both give the same for a few rows; else what differs."""
    if weight is not None and (weight.device.type != "cpu" or weight.dtype not in DTYPES):
        return f"is on {weight.device}, of {weight.dtype}: the kernels take floating-point tensors on the CPU"
    dtype = torch.float32 if weight is None else weight.dtype
    x = torch.sin(torch.arange(3 * width, dtype=torch.float64) * 0.7 + 0.1).mul(2).reshape(1, 3, width).to(dtype)
    training = module.training
    with torch.no_grad():
        try:
            module.train(False)
            before = type(module).forward(module, x)
            module._kernpack_patch = state
            after = forward(module, x)
        except Exception as error:  # modules of others raise what they like
            return f"can't be tried: {type(error).__name__}: {error}"
        finally:
            module.__dict__.pop("_kernpack_patch", None)
            module.train(training)
    if not isinstance(before, torch.Tensor) or before.shape != after.shape or before.dtype != after.dtype:
        return "doesn't return one tensor like its argument"
    room = {torch.float32: 1e-4, torch.float64: 1e-9}.get(dtype, 3e-2)
    size = before.abs().max().double()
    distance = (before - after).abs().max().double()
    return "" if distance <= room * size else f"computes something else: differs by {distance:.2g} of {size:.2g}"


def _tried(module: torch.nn.Module, forward: Any, by: str, width: int, weight: Any, state: Any = None) -> Replacement:
    why = agrees(module, forward, state, width, weight)
    return Replacement(None, "", why) if why else Replacement(forward, by, state=state)


def _norm(module: torch.nn.Module) -> Replacement | None:
    name = type(module).__name__
    if not (isinstance(module, torch.nn.LayerNorm) or name.endswith("RMSNorm")):
        return None
    weight = getattr(module, "weight", None)
    if not isinstance(weight, torch.Tensor):
        return Replacement(None, "", "has no weight")
    if weight.ndim != 1:
        return Replacement(None, "", f"works over {weight.ndim} dimensions, the kernel over the last one")
    if isinstance(module, torch.nn.LayerNorm):
        return _tried(module, _layer_norm, "layer_norm", len(weight), weight)
    eps = getattr(module, "variance_epsilon", getattr(module, "eps", None))
    if eps is None:  # torch.nn.RMSNorm's own
        eps = torch.finfo(weight.dtype).eps
    return _tried(module, _rms_norm, "rms_norm", len(weight), weight, float(eps))


def _layer_norm(self, x):
    if not fits(x, self.weight) or (self.bias is not None and self.bias.dtype != x.dtype):
        return type(self).forward(self, x)
    return functional.layer_norm(x, self.weight, self.bias, self.eps)


def _rms_norm(self, hidden_states):
    if not fits(hidden_states, self.weight):
        return type(self).forward(self, hidden_states)
    return functional.rms_norm(hidden_states, self.weight, self._kernpack_patch)


def _gated(module: torch.nn.Module) -> Replacement | None:
    if not all(hasattr(module, name) for name in ("gate_proj", "up_proj", "down_proj", "act_fn")):
        return None
    weight = getattr(module.gate_proj, "weight", None)
    if not isinstance(module.gate_proj, torch.nn.Linear) or not isinstance(weight, torch.Tensor):
        return Replacement(None, "", "its gate_proj isn't a torch.nn.Linear")
    return _tried(module, _swiglu, "swiglu", module.gate_proj.in_features, weight)


def _swiglu(self, x):
    gate, up = self.gate_proj(x), self.up_proj(x)
    if not fits(gate, up):
        return self.down_proj(self.act_fn(gate) * up)
    return self.down_proj(functional.swiglu(gate, up))


def _gelu(module: torch.nn.Module) -> Replacement | None:
    if "GELU" not in type(module).__name__.upper() or any(True for _ in module.parameters()):
        return None
    kind = module.approximate if isinstance(module, torch.nn.GELU) else _closest(module)
    if kind is None:
        return Replacement(None, "", "computes neither form of GELU")
    return Replacement(_gelu_forward, "gelu", state=kind)


def _closest(module: torch.nn.Module) -> str | None:
    """Which form of GELU: the two differ by 5e-4 at most."""
    x = torch.linspace(-4, 4, 257)
    with torch.no_grad():
        try:
            before = type(module).forward(module, x)
        except Exception:  # modules of others raise what they like
            return None
    for kind in ("none", "tanh"):
        if isinstance(before, torch.Tensor) and torch.allclose(before, functional.gelu(x, kind), rtol=1e-5, atol=1e-6):
            return kind
    return None


def _gelu_forward(self, x):
    return functional.gelu(x, self._kernpack_patch) if fits(x) else type(self).forward(self, x)
