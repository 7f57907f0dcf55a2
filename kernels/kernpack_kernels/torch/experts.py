"""The experts of a mixture: modules with the weights of all in two tensors, as transformers has them."""

from __future__ import annotations

from typing import Any

import torch

from kernpack_kernels.torch import functional
from kernpack_kernels.torch.rules import ACTIVATIONS, GATED, Replacement, closest, differs, fits

# What transformers says of such a module, and what the replacement is for.
_EXPECTED = {
    "has_gate": True,
    "has_bias": False,
    "is_transposed": False,
    "is_concatenated": True,
    "has_post_expert_norm": False,
}


def rule(module: torch.nn.Module) -> Replacement | None:
    weight, down = getattr(module, "gate_up_proj", None), getattr(module, "down_proj", None)
    if not isinstance(weight, torch.Tensor) or not isinstance(down, torch.Tensor) or not weight.ndim == down.ndim == 3:
        return None
    for name, wanted in _EXPECTED.items():
        if getattr(module, name, wanted) != wanted:
            return Replacement(None, "", f"its {name} is {not wanted}: the kernel is for experts where it is {wanted}")
    if not hasattr(module, "_apply_gate") or not fits("grouped_linear", weight) or weight.dtype == torch.float64:
        return Replacement(
            None, "", "isn't of f32, f16 or bf16 on the CPU, or isn't called as transformers' experts are"
        )
    kind = closest(module.act_fn, ACTIVATIONS) if _gates_plainly(module) else None
    why = _tried(module, kind)
    return Replacement(None, "", why) if why else Replacement(forward, "grouped_linear", state=kind)


def _gates_plainly(module: Any) -> bool:
    """Whether the gate is act_fn(gate) * up, so that one kernel computes it."""
    plain = torch.linspace(-3, 3, 12).reshape(3, 4)
    gate, up = plain.chunk(2, dim=-1)
    with torch.no_grad():
        try:
            return torch.allclose(module._apply_gate(plain), module.act_fn(gate) * up)
        except Exception:  # modules of others raise what they like
            return False


def _tried(module: Any, kind: str | None) -> str:
    """ "" where both give the same for a few rows; else what differs."""
    weight = module.gate_up_proj
    x = torch.sin(torch.arange(6 * weight.shape[2], dtype=torch.float64)).reshape(6, -1).to(weight.dtype)
    index = torch.arange(12).reshape(6, 2) * 5 % len(weight)
    shares = torch.linspace(0.1, 0.9, 12).reshape(6, 2).to(weight.dtype)
    with torch.no_grad():
        try:
            before = type(module).forward(module, x, index, shares)
            module._kernpack_patch = kind
            after = forward(module, x, index, shares)
        except Exception as error:  # modules of others raise what they like
            return f"can't be tried: {type(error).__name__}: {error}"
        finally:
            module.__dict__.pop("_kernpack_patch", None)
    return differs(before, after, weight.dtype)


def forward(self, hidden_states, top_k_index, top_k_weights):
    taken = fits("grouped_linear", hidden_states) and hidden_states.dtype == self.gate_up_proj.dtype
    if not taken or hidden_states.ndim != 2 or getattr(self, "_is_expert_parallel", False):
        return type(self).forward(self, hidden_states, top_k_index, top_k_weights)
    kind = self._kernpack_patch
    gate = (lambda both: GATED[kind](*both.chunk(2, dim=-1))) if kind else self._apply_gate
    return functional.experts(hidden_states, top_k_index, top_k_weights, self.gate_up_proj, self.down_proj, gate)
