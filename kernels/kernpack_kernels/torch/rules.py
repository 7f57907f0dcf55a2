"""Which modules the kernels can stand in for, by what the modules have, and how they compute then."""

from __future__ import annotations

import warnings
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


def runs_on(name: str, device: torch.device) -> bool:
    return device.type in DEVICES[name]


@dataclass(frozen=True)
class Replacement:
    forward: Callable[..., Any] | None  # None: the module stays as it is
    by: str
    note: str = ""
    state: Any = None  # what `forward` finds in module._kernpack_patch


def find(module: torch.nn.Module) -> Replacement | None:
    """None: no kind of module that is looked at."""
    for rule in (_norm, _group_norm, _gated, _gelu, _of_torch):
        found = rule(module)
        if found is not None:
            return found
    return None


def _of_torch(module: torch.nn.Module) -> Replacement | None:
    """torch.nn's own Transformer."""
    if isinstance(module, torch.nn.TransformerEncoderLayer):
        why = "calls none of its modules in eval mode without gradients, unless torch.backends.mha.set_fastpath_enabled(False)"
    elif isinstance(module, torch.nn.MultiheadAttention):
        why = "computes with torch.nn.functional's attention"
    else:
        return None
    return Replacement(None, "", why)


def fits(name: str, x: torch.Tensor) -> bool:
    """Whether the kernel of that name takes it; else what was there before computes, for this call."""
    return runs_on(name, x.device) and x.dtype in DTYPES


def agrees(module: torch.nn.Module, forward: Callable[..., Any], name: str, state: Any, width: int, weight: Any) -> str:
    """ "" where both give the same for a few rows; else what differs."""
    if weight is not None and not fits(name, weight):
        on = "the CPU and on CUDA devices" if "cuda" in DEVICES[name] else "the CPU"
        more = "; kernpack-kernels-cuda adds CUDA devices" if weight.device.type == "cuda" and on == "the CPU" else ""
        return f"is on {weight.device}, of {weight.dtype}: {name} takes floating-point tensors on {on}{more}"
    dtype = torch.float32 if weight is None else weight.dtype
    x = torch.sin(torch.arange(3 * width, dtype=torch.float64) * 0.7 + 0.1).mul(2).reshape(1, 3, width)
    x = x.to("cpu" if weight is None else weight.device, dtype)
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
    return differs(before, after, dtype)


def differs(before: Any, after: torch.Tensor, dtype: torch.dtype) -> str:
    """ "" where a module and its replacement, computing in dtype, gave the same; else what differs."""
    if not isinstance(before, torch.Tensor) or before.shape != after.shape or before.dtype != after.dtype:
        return "doesn't return one tensor like its argument"
    room = {torch.float32: 1e-4, torch.float64: 1e-9}.get(dtype, 3e-2)
    size = before.abs().max().double()
    distance = (before - after).abs().max().double()
    return "" if distance <= room * size else f"computes something else: differs by {distance:.2g} of {size:.2g}"


def _tried(module: torch.nn.Module, forward: Any, by: str, width: int, weight: Any, state: Any = None) -> Replacement:
    why = agrees(module, forward, by, state, width, weight)
    return Replacement(None, "", why) if why else Replacement(forward, by, state=state)


@dataclass(frozen=True)
class NormState:
    eps: float | None  # None: torch.nn.RMSNorm's own, that of the type it computes in
    offset: float = 0.0  # what is added to the weight: 1 in Gemma's
    mixed: str = (
        ""  # the result's dtype where x has another than the weight: "x", "wider", or "" where such an x isn't taken
    )


def _norm(module: torch.nn.Module) -> Replacement | None:
    name = type(module).__name__
    is_layer_norm = isinstance(module, torch.nn.LayerNorm)
    if not (is_layer_norm or name.endswith(("RMSNorm", "T5LayerNorm"))):
        return None
    found: Any = getattr(module, "weight", None)
    weight = found if isinstance(found, torch.Tensor) else None
    shape: Any = getattr(module, "normalized_shape", None) if weight is None else weight.shape
    if shape is None:
        return Replacement(None, "", "has no weight, and doesn't say its size")
    if len(shape) != 1:
        return Replacement(None, "", f"works over {len(shape)} dimensions, the kernel over the last one")
    eps = getattr(module, "variance_epsilon", getattr(module, "eps", None))
    eps = None if eps is None else float(eps)
    forward, by = (_layer_norm, "layer_norm") if is_layer_norm else (_rms_norm, "rms_norm")
    mixed = "" if weight is None or not runs_on(by, weight.device) else _mixed(module, weight)
    plain = _tried(module, forward, by, shape[0], weight, NormState(eps, mixed=mixed))
    if plain.forward is None and not is_layer_norm and weight is not None:
        other = _tried(module, forward, by, shape[0], weight, NormState(eps, 1.0, mixed))
        return other if other.forward is not None else plain
    return plain


def _mixed(module: torch.nn.Module, weight: torch.Tensor) -> str:
    other = torch.float32 if weight.dtype == torch.bfloat16 else torch.bfloat16
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's about mixed dtypes
        try:
            dtype = type(module).forward(module, torch.ones(1, len(weight), dtype=other, device=weight.device)).dtype
        except Exception:  # modules of others raise what they like
            return ""
    return "x" if dtype == other else "wider" if dtype == torch.promote_types(other, weight.dtype) else ""


def _norm_input(self, name: str, x: torch.Tensor) -> torch.Tensor | None:
    """x as the kernel gets it; None where what was there before computes."""
    weight, bias, state = self.weight, getattr(self, "bias", None), self._kernpack_patch
    if not fits(name, x) or (weight is not None and not fits(name, weight)):
        return None
    if weight is not None and weight.shape[0] != x.shape[-1]:  # FalconMamba's has one that it doesn't use
        return None
    if bias is not None and bias.dtype != weight.dtype:
        return None
    if weight is None or weight.dtype == x.dtype or state.mixed == "x":
        return x
    return x.to(torch.promote_types(x.dtype, weight.dtype)) if state.mixed == "wider" else None


def _layer_norm(self, x):
    given = _norm_input(self, "layer_norm", x)
    if given is None:
        return type(self).forward(self, x)
    return functional.layer_norm(given, self.weight, self.bias, self._kernpack_patch.eps)


def _rms_norm(self, hidden_states):
    given, state = _norm_input(self, "rms_norm", hidden_states), self._kernpack_patch
    if given is None:
        return type(self).forward(self, hidden_states)
    weight = self.weight + state.offset if state.offset else self.weight
    computed = torch.float64 if given.dtype == torch.float64 else torch.float32
    return functional.rms_norm(given, weight, torch.finfo(computed).eps if state.eps is None else state.eps)


def _group_norm(module: torch.nn.Module) -> Replacement | None:
    return Replacement(_group_norm_forward, "group_norm") if type(module) is torch.nn.GroupNorm else None


def _group_norm_forward(self, x):
    weight = self.weight
    if not fits("group_norm", x) or (weight is not None and weight.dtype != x.dtype):
        return type(self).forward(self, x)
    return functional.group_norm(x, self.num_groups, weight, self.bias, self.eps)


def _gated(module: torch.nn.Module) -> Replacement | None:
    if not all(hasattr(module, name) for name in ("gate_proj", "up_proj", "down_proj", "act_fn")):
        return None
    weight = getattr(module.gate_proj, "weight", None)
    if not isinstance(module.gate_proj, torch.nn.Linear) or not isinstance(weight, torch.Tensor):
        return Replacement(None, "", "its gate_proj isn't a torch.nn.Linear")
    kind = closest(module.act_fn, ACTIVATIONS)
    if kind is None:
        return Replacement(None, "", f"its activation is none of {', '.join(ACTIVATIONS)}")
    by = "swiglu" if kind == "silu" else "geglu"
    return _tried(module, _gated_forward, by, module.gate_proj.in_features, weight, kind)


def _gated_forward(self, x):
    gate, up = self.gate_proj(x), self.up_proj(x)
    if not fits("swiglu", gate) or gate.dtype != up.dtype:
        return self.down_proj(self.act_fn(gate) * up)
    return self.down_proj(GATED[self._kernpack_patch](gate, up))


GELUS = {
    "gelu": lambda x: functional.gelu(x),
    "gelu_tanh": lambda x: functional.gelu(x, "tanh"),
}
ACTIVATIONS = {"silu": lambda x: functional.silu(x), **GELUS}
GATED = {
    "silu": lambda gate, up: functional.swiglu(gate, up),
    "gelu": lambda gate, up: functional.geglu(gate, up),
    "gelu_tanh": lambda gate, up: functional.geglu(gate, up, "tanh"),
}


def _gelu(module: torch.nn.Module) -> Replacement | None:
    if "GELU" not in type(module).__name__.upper() or any(True for _ in module.parameters()):
        return None
    kind = closest(module, GELUS)
    if kind is None:
        return Replacement(None, "", "computes neither form of GELU")
    return Replacement(_gelu_forward, "gelu", state=kind)


def closest(theirs: Any, ours: dict[str, Callable[..., Any]]) -> str | None:
    """The one that computes the same: GELU's two forms differ by 5e-4 at most."""
    x = torch.linspace(-4, 4, 257)
    with torch.no_grad():
        try:
            before = type(theirs).forward(theirs, x) if isinstance(theirs, torch.nn.Module) else theirs(x)
        except Exception:  # modules of others raise what they like
            return None
    for kind, function in ours.items():
        if isinstance(before, torch.Tensor) and torch.allclose(before, function(x), rtol=1e-5, atol=1e-6):
            return kind
    return None


def _gelu_forward(self, x):
    return GELUS[self._kernpack_patch](x.contiguous()) if fits("gelu", x) else type(self).forward(self, x)
