"""The gradient of a derived op with respect to what it is linear in, which needs no op of its own.

A backward op B of a function, or of another backward op, is linear in the gradients that arrive (its cotangents), and is the transpose
of the function's forward mode. So the gradient of B with respect to these cotangents is forward mode of the function (KP_JVP).
torch.autograd.functional.jvp and hvp ask for it: they differentiate a gradient with respect to the gradient that arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from kernpack._private.torch import names


@dataclass(frozen=True)
class Transpose:
    """`derived` computes gradients of `function`: its step. cotangents: the parameters of `derived` that it is linear in, and the
    function's result whose gradient each is."""

    derived: Any
    function: Any
    step: Any
    cotangents: tuple[tuple[int, int], ...]

    def primals(self, values: Sequence[Any]) -> tuple[list[Any], dict[int, Any]]:
        """The arguments of the function among those of the derived op, and its results."""
        primals: list[Any] = [param.default for param in self.function.contract.parameters]
        results: dict[int, Any] = {}
        for value, (kind, index) in zip(values, self.step.sources, strict=True):
            if kind == "param":
                primals[index] = value
            elif kind == "result":
                results[index] = value
        return primals, results


def of(derived: Any) -> Transpose | None:
    """None where the function has no forward mode, or its forward mode takes what the derived op hasn't got."""
    operators = derived.operators
    for name in operators.differentiated_by(derived.name):
        function = operators.function(name)
        step = next(step for step in function.gradient.steps if step.name == derived.name)
        plan = function.tangents.plan
        if plan is None or step.per_item or any(param.is_list for param in derived.contract.parameters):
            continue
        if all(_is_known(step, plan, kind, index) for kind, index in plan.sources):
            found = ((place, index) for place, (kind, index) in enumerate(step.sources) if kind == "cotangent")
            return Transpose(derived, function, step, tuple(found))
    return None


def _is_known(step: Any, plan: Any, kind: str, index: int) -> bool:
    """True if an argument of the forward mode exists when the derived op's gradient is requested."""
    if kind == "tangent":
        return index in step.targets or index in plan.optional_tangents or ("param", index) in step.sources
    return kind == "default" or (kind, index) in step.sources


class _Linear(names.Node):
    """The derived op, as a function of its cotangents alone."""

    @staticmethod
    def forward(
        ctx: Any, transpose: Transpose, values: Sequence[Any], *cotangents: torch.Tensor | None
    ) -> tuple[torch.Tensor, ...]:
        ctx.transpose = transpose
        ctx.values = values
        given = list(values)
        for (place, _), cotangent in zip(transpose.cotangents, cotangents, strict=True):
            given[place] = cotangent
        return tuple(transpose.derived.below_autograd(*given))

    @staticmethod
    def backward(ctx: Any, *given: torch.Tensor) -> Any:
        transpose: Transpose = ctx.transpose
        tangents = dict(zip(transpose.step.targets, given, strict=True))
        primals, results = transpose.primals(ctx.values)
        found = transpose.function.tangents.derive(primals, results, tangents)
        needed = ctx.needs_input_grad[2:]
        places = zip(transpose.cotangents, needed, strict=True)
        return None, None, *(found[index] if is_needed else None for (_, index), is_needed in places)


_linear: Callable[..., Any] = _Linear.apply


def record(transpose: Transpose, values: Sequence[Any]) -> list[torch.Tensor]:
    """All results of the derived op, with a node of autograd for its cotangents. What else requires a gradient is left to the caller."""
    places = {place for place, _ in transpose.cotangents}
    kept = [None if i in places else value for i, value in enumerate(values)]
    return list(_linear(transpose, kept, *(values[place] for place, _ in transpose.cotangents)))


def is_real(values: Sequence[Any]) -> bool:
    """Transposing complex maps also conjugates them."""
    return not any(isinstance(value, torch.Tensor) and value.is_complex() for value in values)
