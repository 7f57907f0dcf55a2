"""Activations: SiLU, the forms of GELU, and which of them a module or function computes."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import torch

from kernpack_kernels.torch import functional
from kernpack_kernels.torch.code import foreign, words
from kernpack_kernels.torch.rules import OWN, Replacement, fits, uses
from kernpack_kernels.torch.twins import twin, undisturbed

QUICK = 1.702  # quick GELU is x * sigmoid(1.702 * x), which is silu(1.702 * x) / 1.702

GATED: dict[str, Callable[..., torch.Tensor]] = {
    "silu": lambda gate, up: functional.swiglu(gate, up),
    "gelu": lambda gate, up: functional.geglu(gate, up),
    "gelu_tanh": lambda gate, up: functional.geglu(gate, up, "tanh"),
}
GELUS: dict[str, Callable[..., torch.Tensor]] = {
    "gelu": lambda x: functional.gelu(x),
    "gelu_tanh": lambda x: functional.gelu(x, "tanh"),
    "quick_gelu": lambda x: functional.silu(x * QUICK) / QUICK,
}
ACTIVATIONS: dict[str, Callable[..., torch.Tensor]] = {
    "silu": lambda x: functional.silu(x),
    **{kind: GELUS[kind] for kind in ("gelu", "gelu_tanh")},
}
# Names that the code of an activation may use: a trial shows everything that is computed from them.
_NAMES = words(
    "torch nn functional F math Tensor act gelu silu tanh sigmoid erf erfc exp sqrt pow pi mul add "
    "precomputed_constant approximate inplace dtype to float double type_as isinstance forward super"
)


def gelu(module: torch.nn.Module) -> Replacement | None:
    if "GELU" not in type(module).__name__.upper() or any(True for _ in module.parameters()):
        return None
    kind, why = closest(module, GELUS, "computes neither form of GELU, nor quick GELU")
    return (
        Replacement(_gelu, "silu" if kind == "quick_gelu" else "gelu", state=kind)
        if kind
        else Replacement(None, "", why)
    )


def _gelu(self, *given, **options):
    x = given[0] if given else next(iter(options.values()), None)
    if len(given) + len(options) != 1 or not isinstance(x, torch.Tensor) or not fits("gelu", x):
        return type(self).forward(self, *given, **options)
    return GELUS[self._kernpack_patch](x.contiguous())


def closest(theirs: Any, ours: dict[str, Callable[..., Any]], otherwise: str) -> tuple[str | None, str]:
    """Which one computes what the module or function computes; or None, and what is said then."""
    is_module = isinstance(theirs, torch.nn.Module)
    if is_module and (any(True for _ in theirs.children()) or replaced_by_others(theirs)):
        return None, otherwise
    names = _foreign(theirs)
    if names:
        return None, f"{otherwise}: it uses {', '.join(names)}" if not is_module else uses(names)
    x = numbers()
    try:
        with undisturbed():
            if is_module:
                tried = twin(theirs)
                before = [type(theirs).forward(tried.train(training), x) for training in (False, True)]
            else:
                before = [theirs(x)]
            for kind, computed in ours.items():
                after = computed(x)
                if all(_same(each, after, x) for each in before):
                    return kind, ""
    except Exception:  # modules of others raise what they like
        return None, otherwise
    return None, otherwise


def _foreign(theirs: Any) -> list[str]:
    while isinstance(theirs, functools.partial):
        theirs = theirs.func
    is_module = isinstance(theirs, torch.nn.Module)
    of_torch = type(theirs).__module__ if is_module else getattr(theirs, "__module__", "")
    if (of_torch or "").startswith("torch."):
        return []
    if is_module:
        return foreign(type(theirs).forward, theirs, _NAMES)
    known = isinstance(theirs, (types.FunctionType, types.MethodType, types.BuiltinFunctionType))
    return foreign(theirs if known else type(theirs).__call__, theirs, _NAMES)


def replaced_by_others(module: torch.nn.Module) -> bool:
    return "forward" in module.__dict__ and OWN not in module.__dict__


def numbers() -> torch.Tensor:
    """Of both signs, of all sizes that are tried, and close to each other where GELU bends."""
    sizes = torch.logspace(-3, 3, 121)
    return torch.cat([sizes, -sizes, torch.linspace(-8, 8, 258)])


def _same(before: Any, after: torch.Tensor, x: torch.Tensor) -> bool:
    """To the rounding of f32, of small numbers, too."""
    if not isinstance(before, torch.Tensor) or before.shape != after.shape or before.dtype != after.dtype:
        return False
    room = 1e-5 * before.abs() + 1e-6 * x.abs().clamp_max(1)
    return bool(((before - after).abs() <= room).all())
