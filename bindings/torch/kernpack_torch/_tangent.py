"""Forward mode: the tangents that a module declares (KP_JVP), as the operator's kernel at the Autograd key computes them. torch has one
level of it, 0; nested calls of torch.func.jvp differ by what they wrap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from kernpack._private.torch import names
from torch.autograd import forward_ad

from . import _refusals, _values


class Tangents:
    """The tangents of one function's results."""

    def __init__(self, function: Any, plan: Any) -> None:
        self._function = function
        self._plan = plan

    @property
    def plan(self) -> Any:
        """kernpack._gradients.Tangent, or None."""
        return self._plan

    def call(self, values: Sequence[Any]) -> Any:
        """Returns the operator's results if an argument carries a tangent, at torch's current level."""
        function = self._function
        if self._plan is None:
            raise _refusals.no_tangent(function.info)
        primals, tangents = self._take_apart(values)
        if function.has_gradient and torch.is_grad_enabled() and _values.any_requires_grad(function.contract, values):
            # Plain autograd does both at once, and what it saves for the backward has tangents too.
            return function.returned(function.gradient.record_both(values, self))
        outputs = list(function.all_results(primals))
        if function.gradient.records_above():
            self.refuse_hidden(outputs)
        for i, tangent in enumerate(self.derive(primals, outputs, tangents)):
            if tangent is not None:
                outputs[i] = forward_ad.make_dual(outputs[i], tangent, level=0)
        return function.returned(outputs)

    def derive(
        self, primals: Sequence[Any], outputs: Sequence[Any] | Mapping[int, Any], tangents: Mapping[int, Any]
    ) -> list[torch.Tensor | None]:
        """The tangent of each result; None: it has none. tangents: by parameter."""
        plan = self._plan
        derived = self._function.operators.function(plan.name)
        arguments: list[Any] = []
        for param, (source, index) in zip(derived.contract.parameters, plan.sources, strict=True):
            if source == "param":
                arguments.append(primals[index])
            elif source == "result":
                arguments.append(outputs[index])
            elif source == "tangent":
                arguments.append(self._tangent(primals[index], tangents.get(index), index))
            else:
                arguments.append(param.default)
        found: list[torch.Tensor | None] = [None] * len(self._function.contract.results)
        for target, tangent in zip(plan.targets, derived.all_results(arguments), strict=True):
            found[target] = tangent
        return found

    def refuse_hidden(self, outputs: Sequence[torch.Tensor]) -> None:
        """In forward mode over reverse mode the backward op would take what it gets without a tangent for a constant."""
        for i in self._function.gradient.saved_results:
            if i not in self._plan.targets and (outputs[i].is_floating_point() or outputs[i].is_complex()):
                raise _refusals.hidden_tangent(self._function.info, self._function.contract.results[i].name)

    def _take_apart(self, values: Sequence[Any]) -> tuple[list[Any], dict[int, Any]]:
        """The arguments without their tangents, and the tangents by parameter: of a list, one for each item."""
        function = self._function
        primals, tangents = list(values), {}
        for i, (param, value) in enumerate(zip(function.contract.parameters, values, strict=True)):
            if not param.is_tensor or value is None:
                continue
            pairs = [forward_ad.unpack_dual(item, level=0) for item in (value if param.is_list else (value,))]
            primals[i] = [pair.primal for pair in pairs] if param.is_list else pairs[0].primal
            if all(pair.tangent is None or names.is_zero(pair.tangent) for pair in pairs):
                continue
            if param.name in function.contract.nondiff:
                raise _refusals.nondiff_tangent(function.info, param.name)
            tangents[i] = [pair.tangent for pair in pairs] if param.is_list else pairs[0].tangent
        return primals, tangents

    def _tangent(self, primal: Any, tangent: Any, index: int) -> Any:
        """A parameter's tangent as the tangent op takes it."""
        if primal is None:
            return None if tangent is None else tangent.contiguous()
        if tangent is None and index in self._plan.optional_tangents:
            return None
        if isinstance(primal, list):
            return [_whole(p, t) for p, t in zip(primal, tangent or [None] * len(primal), strict=True)]
        return _whole(primal, tangent)


def _whole(primal: torch.Tensor, tangent: torch.Tensor | None) -> torch.Tensor:
    """Zeros where nothing flows: torch says so with None, or with a tensor that has no memory."""
    if tangent is None or names.is_zero(tangent):
        return torch.zeros_like(primal, memory_format=torch.contiguous_format)
    return tangent.contiguous()
