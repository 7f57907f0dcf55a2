"""Norms: LayerNorm, the RMSNorm classes of models, GroupNorm."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from kernpack_kernels.torch import functional
from kernpack_kernels.torch.code import foreign, words
from kernpack_kernels.torch.rules import OWN, SCALES, Replacement, differs, fits, misfit, rows, runs_on, uses
from kernpack_kernels.torch.twins import twin, undisturbed

# Names that the code of a norm may use: a trial shows everything that is computed from them.
_NAMES = words(
    "torch nn functional F Tensor weight bias gamma eps variance_epsilon normalized_shape ndim shape size dim "
    "len numel to float double dtype type type_as float16 bfloat16 float32 float64 get_default_dtype "
    "is_floating_point pow square sqrt rsqrt mean var sum mul div add reciprocal norm rms_norm layer_norm "
    "linalg vector_norm permute contiguous view reshape super forward isinstance getattr hasattr device "
    "unsqueeze ones_like"
)


@dataclass(frozen=True)
class NormState:
    eps: str  # the attribute that has it; "": torch.nn.RMSNorm's own, that of the type it computes in
    offset: float = 0.0  # what is added to the weight: 1 in Gemma's
    # The result's dtype where x has another than the weight: "x", "wider", or "" where such an x isn't taken.
    mixed: str = ""


def norm(module: torch.nn.Module) -> Replacement | None:
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
    eps = next((key for key in ("variance_epsilon", "eps") if getattr(module, key, None) is not None), "")
    forward, by = (_layer_norm, "layer_norm") if is_layer_norm else (_rms_norm, "rms_norm")
    why = "" if weight is None else misfit(by, weight)
    if why:
        return Replacement(None, "", why)
    if not type(module).__module__.startswith("torch.nn."):
        names = foreign(type(module).forward, module, _NAMES)
        if names:
            return Replacement(None, "", uses(names))
    offsets = (0.0,) if is_layer_norm or weight is None else (0.0, 1.0)
    for offset in offsets:
        tried = _Trial(module, forward, shape[0], weight)
        state, reason = tried(NormState(eps, offset))
        why = why or reason
        if not reason:
            return Replacement(forward, by, state=state)
    return Replacement(None, "", why)


class _Trial:
    """With a weight of its own, since one of zeros would hide everything."""

    def __init__(self, module: Any, forward: Callable[..., Any], width: int, weight: torch.Tensor | None) -> None:
        self.module, self.forward, self.width, self.weight = module, forward, width, weight

    def __call__(self, state: NormState) -> tuple[NormState, str]:
        dtype = torch.float32 if self.weight is None else self.weight.dtype
        with undisturbed(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's about mixed dtypes
            try:
                why = self._compare(state, dtype)
                if why or self.weight is None:
                    return state, why
            except Exception as error:  # modules of others raise what they like
                return state, f"can't be tried: {type(error).__name__}: {error}"
            other = torch.float32 if dtype == torch.bfloat16 else torch.bfloat16
            for mixed in ("x", "wider"):
                try:
                    found = NormState(state.eps, state.offset, mixed)
                    if not self._compare(found, other):
                        return found, ""
                except Exception:
                    continue
        return state, ""

    def _copy(self, double: bool = False) -> Any:
        made = twin(self.module)
        for index, name in enumerate(("weight", "bias")):
            old = getattr(made, name, None)
            if isinstance(old, torch.Tensor):
                new = rows(*old.shape, dtype=old.dtype, device=old.device, scale=0.3).add(0.2 * index + 0.1)
                setattr(made, name, torch.nn.Parameter(new.double() if double else new, requires_grad=False))
        return made

    def _compare(self, state: NormState, dtype: torch.dtype) -> str:
        device = "cpu" if self.weight is None else self.weight.device
        theirs, exact = self._copy(), self._copy(double=True) if dtype.itemsize == 2 else None
        setattr(theirs, OWN, state)
        width = self.width
        tries = [((1, 3, width), scale, training) for scale in SCALES for training in (False, True)]
        for shape, scale, training in (*tries, ((3, width), 1.0, False), ((2, 1, 3, width), 1.0, False)):
            x = rows(*shape, dtype=dtype, device=device, scale=scale)
            before, after = type(theirs).forward(theirs.train(training), x), self.forward(theirs, x)
            close = None if exact is None else type(exact).forward(exact.train(training), x.double())
            why = differs(before, after, close, dtype)
            if why:
                return why
        return ""


def _input(self, name: str, given: tuple[Any, ...], options: dict[str, Any]) -> torch.Tensor | None:
    """x as the kernel gets it; None where what was there before computes."""
    if len(given) + len(options) != 1:
        return None
    x = given[0] if given else next(iter(options.values()))
    weight, bias, state = self.weight, getattr(self, "bias", None), self._kernpack_patch
    if not isinstance(x, torch.Tensor) or not fits(name, x) or (weight is not None and not fits(name, weight)):
        return None
    if weight is not None and weight.shape[0] != x.shape[-1]:  # FalconMamba's has one that it doesn't use
        return None
    if bias is not None and bias.dtype != weight.dtype:
        return None
    if weight is None or weight.dtype == x.dtype or state.mixed == "x":
        return x
    return x.to(torch.promote_types(x.dtype, weight.dtype)) if state.mixed == "wider" else None


def _layer_norm(self, *given, **options):
    x = _input(self, "layer_norm", given, options)
    if x is None:
        return type(self).forward(self, *given, **options)
    return functional.layer_norm(x, self.weight, self.bias, float(self.eps))


def _rms_norm(self, *given, **options):
    x, state = _input(self, "rms_norm", given, options), self._kernpack_patch
    if x is None:
        return type(self).forward(self, *given, **options)
    weight = self.weight
    if state.offset:  # in f32: a sum in bf16 would round the weight
        weight = (weight.float() if weight.dtype.itemsize == 2 else weight) + state.offset
    computed = torch.float64 if x.dtype == torch.float64 else torch.float32
    return functional.rms_norm(x, weight, float(getattr(self, state.eps)) if state.eps else torch.finfo(computed).eps)


def group_norm(module: torch.nn.Module) -> Replacement | None:
    return Replacement(_group_norm, "group_norm") if type(module) is torch.nn.GroupNorm else None


def _group_norm(self, x):
    weight = self.weight
    if (
        not runs_on("group_norm", x.device)
        or not fits("group_norm", x)
        or (weight is not None and weight.dtype != x.dtype)
    ):
        return type(self).forward(self, x)
    return functional.group_norm(x, self.num_groups, weight, self.bias, self.eps)
