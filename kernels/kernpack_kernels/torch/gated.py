"""Gated MLPs: act(gate(x)) * up(x), by swiglu or geglu."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from kernpack_kernels.torch import code
from kernpack_kernels.torch.activations import ACTIVATIONS, GATED, closest, numbers, replaced_by_others
from kernpack_kernels.torch.code import foreign, words
from kernpack_kernels.torch.rules import Replacement, differs, fits, misfit, uses
from kernpack_kernels.torch.twins import is_hooked, twin, undisturbed


@dataclass(frozen=True)
class Layout:
    """Names of the modules: gate and up, or one that gives both; dropout, where there is one, comes before down."""

    gate: str
    up: str  # "": gate gives both, one half each
    down: str
    act: tuple[str, ...] = ()  # where there is none of these, the code names a function
    dropout: str = ""

    def linear(self) -> list[str]:
        return [name for name in (self.gate, self.up, self.down) if name]


_LAYOUTS = (
    Layout("gate_proj", "up_proj", "down_proj", ("act_fn", "activation_fn"), "dropout"),
    Layout("gate_up_proj", "", "down_proj", ("activation_fn", "act_fn"), "dropout"),
    Layout("wi_0", "wi_1", "wo", ("act",), "dropout"),
    Layout("w1", "w3", "w2", (), "dropout"),
    Layout("input_linear", "", "output_linear", ("activation",)),
    Layout("Wi", "", "Wo", ("act",), "drop"),
)
# Further names that the code may use: a trial shows everything that is computed from them.
_NAMES = words("torch nn functional F Tensor silu gelu chunk isinstance weight dtype to float int8")


@dataclass(frozen=True)
class GatedState:
    layout: Layout
    kind: str
    act_name: str  # "": the code names a function
    act: Any  # what the trial was for: another one is computed as before
    drops: bool = False  # calls its dropout
    casts: bool = False  # to the type of down's weight, as T5's does


def gated(module: torch.nn.Module) -> Replacement | None:
    layout = next((each for each in _LAYOUTS if all(name in module._modules for name in each.linear())), None)
    if layout is None:
        return None
    act_name = next((name for name in layout.act if hasattr(module, name)), "")
    act, kinds = (getattr(module, act_name), []) if act_name else (None, list(ACTIVATIONS))
    if act_name:
        kind, why = closest(act, ACTIVATIONS, f"its activation is none of {', '.join(ACTIVATIONS)}")
        if kind is None:
            return Replacement(None, "", why)
        kinds.append(kind)
    forward = type(module).forward
    names = foreign(forward, module, {*_NAMES, *layout.linear(), *layout.act, layout.dropout})
    if names and not (names == ["clamp"] and all(map(math.isinf, code.numbers(forward, module)))):
        return Replacement(None, "", uses(names))
    weight = getattr(getattr(module, layout.gate), "weight", None)
    weight = weight if isinstance(weight, torch.Tensor) and weight.is_floating_point() else None
    reasons = []
    for kind in kinds:
        by = "swiglu" if kind == "silu" else "geglu"
        why = "" if weight is None else misfit(by, weight)
        state = GatedState(layout, kind, act_name, act)
        if not why:
            state, why = _tried(module, state, torch.float32 if weight is None else weight.dtype)
        if not why:
            return Replacement(_forward, by, state=state)
        reasons.append(why)
    return Replacement(None, "", reasons[0])


def _forward(self, *given, **options):
    state = self._kernpack_patch
    layout = state.layout
    if len(given) + len(options) != 1:
        return type(self).forward(self, *given, **options)
    if state.act_name:
        act = getattr(self, state.act_name)
        if act is not state.act or (isinstance(act, torch.nn.Module) and (is_hooked(act) or replaced_by_others(act))):
            return type(self).forward(self, *given, **options)
    x = given[0] if given else next(iter(options.values()))
    gate = getattr(self, layout.gate)(x)
    gate, up = (gate, getattr(self, layout.up)(x)) if layout.up else gate.chunk(2, dim=-1)
    if fits("swiglu", gate) and gate.dtype == up.dtype and gate.shape == up.shape:
        hidden = GATED[state.kind](gate, up)
    else:
        hidden = _PLAIN[state.kind](gate) * up
    if state.drops:
        hidden = getattr(self, layout.dropout)(hidden)
    down = getattr(self, layout.down)
    if state.casts and isinstance(down.weight, torch.Tensor) and down.weight.dtype not in (hidden.dtype, torch.int8):
        hidden = hidden.to(down.weight.dtype)
    return down(hidden)


_PLAIN: dict[str, Callable[..., torch.Tensor]] = {
    "silu": torch.nn.functional.silu,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
}


class _Part:
    """Stands for a linear layer or a dropout in a trial, so that the trial doesn't depend on weights, and calls no hooks."""

    def __init__(self, gives: torch.Tensor | int, weight: torch.Tensor) -> None:
        self.gives, self.weight = gives, weight
        self.took: list[Any] = []

    def __call__(self, x: Any) -> Any:
        self.took.append(x)
        return x + self.gives if isinstance(self.gives, int) else self.gives


class _Trial:
    """One run of the module's code, with what stands for its parts."""

    def __init__(
        self, module: Any, state: GatedState, both: tuple[torch.Tensor, ...], training: bool, weight: Any
    ) -> None:
        layout = state.layout
        own: dict[str, Any] = {k: v for k, v in module.__dict__.items() if isinstance(v, (bool, int, float, str))}
        self.module = object.__new__(type(module))
        parts = {layout.down: _Part(1, weight), layout.dropout: _Part(0, weight)}
        if layout.up:
            parts |= {layout.gate: _Part(both[0], weight), layout.up: _Part(both[1], weight)}
        else:
            parts[layout.gate] = _Part(torch.cat(both, -1), weight)
        if state.act_name:
            act = twin(state.act).train(training) if isinstance(state.act, torch.nn.Module) else state.act
            own[state.act_name] = functools.partial(type(act).forward, act) if isinstance(act, torch.nn.Module) else act
        empty: dict[str, Any] = {"_parameters": {}, "_buffers": {}, "_modules": {}}
        self.module.__dict__.update({**own, **empty, **parts, "training": training})
        x = both[0].new_ones(1)
        result = type(module).forward(self.module, x)
        dropped, (self.hidden,) = parts[layout.dropout].took, parts[layout.down].took
        self.drops = bool(dropped)
        inputs = [each for name in (layout.gate, layout.up) if name for each in parts[name].took]
        self.is_plain = (
            len(dropped) <= 1
            and all(torch.equal(each.to(self.hidden.dtype), self.hidden) for each in dropped)
            and all(each is x for each in inputs)
            and len(inputs) == len(layout.linear()) - 1
            and isinstance(result, torch.Tensor)
            and torch.equal(result, self.hidden + 1)
        )


def _tried(module: Any, state: GatedState, dtype: torch.dtype) -> tuple[GatedState, str]:
    """The result of the trials of the module, and "" if the kernel gives equal results; else the difference."""
    gate, up = numbers()[None], numbers().roll(177).flip(0)[None]
    try:
        with undisturbed():
            for training in (False, True):
                run = _Trial(module, state, (gate, up), training, gate)
                mine = GATED[state.kind](gate, up)
                room = 1e-5 * mine.abs() + 1e-6 * gate.abs().clamp_max(1) * up.abs()
                if not run.is_plain or run.hidden.shape != mine.shape or run.hidden.dtype != mine.dtype:
                    return state, "does more than a gated MLP does"
                distance = (run.hidden - mine).abs()
                if (distance > room).any():
                    return state, f"computes something else: differs by {distance.max():.2g} of {mine.abs().max():.2g}"
            cast = [
                _Trial(module, state, (gate, up), False, gate.to(kind)).hidden.dtype
                for kind in (torch.float64, torch.int8)
            ]
            if cast[1] != gate.dtype:
                return state, "casts to the type of another module's weight"
            state = replace(state, drops=run.drops, casts=cast[0] == torch.float64)
            if dtype.itemsize == 2:
                both = gate.to(dtype) / 8, up.to(dtype) / 8  # so that f16 holds the products
                exact = _Trial(module, state, tuple(each.double() for each in both), False, gate.double()).hidden
                before = _Trial(module, state, both, False, both[0]).hidden
                return state, differs(before, GATED[state.kind](*both), exact)
    except Exception as error:  # modules of others raise what they like
        return state, f"can't be tried: {type(error).__name__}: {error}"
    return state, ""
