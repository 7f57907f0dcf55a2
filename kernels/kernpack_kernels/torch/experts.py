"""The experts of a mixture: modules with the weights of all in two tensors, as transformers has them."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import torch

from kernpack_kernels.torch import functional
from kernpack_kernels.torch.activations import ACTIVATIONS, GATED, closest, numbers, replaced_by_others
from kernpack_kernels.torch.rules import SCALES, Replacement, differs, fits, rows
from kernpack_kernels.torch.twins import is_hooked, twin, undisturbed

# The names of the arguments in transformers.
_NAMES = (("hidden_states", "x"), ("top_k_index", "router_indices"), ("top_k_weights", "routing_weights"))
# Attributes of such a module in transformers.
_LAYOUT = ("has_gate", "has_bias", "is_transposed", "has_post_expert_norm")


@dataclass(frozen=True)
class ExpertsState:
    kind: str | None  # None: the module's own gate
    up: str  # the name of the first weight
    has_bias: bool
    is_transposed: bool
    act: Any  # what the trial was for: the module's own gate calls another one


def experts(module: Any) -> Replacement | None:
    has_gate = bool(getattr(module, "has_gate", True))
    up = "gate_up_proj" if has_gate else "up_proj"
    weight, down = getattr(module, up, None), getattr(module, "down_proj", None)
    if not isinstance(weight, torch.Tensor) or not isinstance(down, torch.Tensor) or not weight.ndim == down.ndim == 3:
        return None
    if getattr(module, "has_post_expert_norm", False):
        return Replacement(None, "", "has a norm after each expert, which the kernel doesn't have")
    if not hasattr(module, "_apply_gate") or not all(hasattr(module, name) for name in _LAYOUT[:3]):
        return Replacement(None, "", "isn't called as transformers' experts are")
    if not fits("grouped_linear", weight) or weight.dtype == torch.float64:
        return Replacement(
            None, "", f"is on {weight.device}, of {weight.dtype}: grouped_linear takes f32, f16 and bf16 on the CPU"
        )
    act = getattr(module, "act_fn", None)
    try:
        with undisturbed():
            copied = twin(module)
        kind = closest(act, ACTIVATIONS, "")[0] if has_gate and _gates_plainly(copied) else None
        state = ExpertsState(kind, up, module.has_bias, module.is_transposed, act)
        why = _tried(copied, replace(state, act=getattr(copied, "act_fn", None)))
    except Exception as error:  # modules of others raise what they like
        why = f"can't be tried: {type(error).__name__}: {error}"
    return Replacement(None, "", why) if why else Replacement(forward, "grouped_linear", state=state)


def _gates_plainly(module: Any) -> bool:
    """True if the gate is act_fn(gate) * up, so that one kernel computes it."""
    gate, up = numbers()[None], numbers().roll(177).flip(0)[None]
    with undisturbed():
        try:
            found, plain = module._apply_gate(torch.cat([gate, up], -1)), module.act_fn(gate) * up
            return torch.equal(found, plain)
        except Exception:  # modules of others raise what they like
            return False


def _tried(module: Any, state: ExpertsState) -> str:
    """ "" where both give the same for a few rows; else what differs."""
    weight = getattr(module, state.up)
    count, width = len(weight), weight.shape[1 if state.is_transposed else 2]
    index = (torch.arange(12, device=weight.device).reshape(6, 2) * 5) % count
    shares = torch.linspace(0.1, 0.9, 12).reshape(6, 2).to(weight.device, weight.dtype)
    with undisturbed():
        for training in (False, True):
            module.train(training)
            for scale in SCALES:
                x = rows(6, width, dtype=weight.dtype, device=weight.device, scale=scale)
                before = type(module).forward(module, x, index, shares)
                why = differs(before, _compute(module, state, x, index, shares))
                if why:
                    return why
    return ""


def forward(self, *given, **options):
    state = self._kernpack_patch
    named = (options.get(a, options.get(b)) for a, b in _NAMES[len(given) :])
    x, index, shares = (*given, *named) if len(given) + len(options) == 3 else (None, None, None)
    tensors = isinstance(x, torch.Tensor) and isinstance(index, torch.Tensor) and isinstance(shares, torch.Tensor)
    taken = tensors and x.ndim == 2 and fits("grouped_linear", x) and x.dtype == getattr(self, state.up).dtype
    if not taken or getattr(self, "_is_expert_parallel", False):
        return type(self).forward(self, *given, **options)
    return _compute(self, state, x, index, shares)


def _gate(kind: str, both: torch.Tensor) -> torch.Tensor:
    return GATED[kind](*both.chunk(2, dim=-1))


def _compute(
    self: Any, state: ExpertsState, x: torch.Tensor, index: torch.Tensor, shares: torch.Tensor
) -> torch.Tensor:
    kind, act = state.kind, getattr(self, "act_fn", None)
    if kind and (
        act is not state.act or (isinstance(act, torch.nn.Module) and (is_hooked(act) or replaced_by_others(act)))
    ):
        kind = None
    own: Any = self._apply_gate if state.up == "gate_up_proj" else act
    gate = functools.partial(_gate, kind) if kind else own
    weights = getattr(self, state.up), self.down_proj
    biases = (getattr(self, f"{state.up}_bias"), self.down_proj_bias) if state.has_bias else (None, None)
    if state.is_transposed:
        weights = weights[0].transpose(1, 2), weights[1].transpose(1, 2)
    return functional.experts(x, index, shares, *weights, gate, *biases)
