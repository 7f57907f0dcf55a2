"""The gradient that a module declares (KP_GRAD), as an autograd.Function outside the operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch._functorch.utils import enable_single_level_autograd_function

from . import _node
from ._spec import Spec


class Plan:
    """Everything about one function's gradient that is fixed when it is registered."""

    def __init__(self, function: Any, steps: Sequence[Any]) -> None:
        self.function = function
        self.spec: Spec = function.spec
        self.steps = tuple(steps)
        self.tensor_params = tuple(i for i, param in enumerate(self.spec.params) if param.is_tensor)
        self.saved_params = tuple(
            sorted(
                {
                    i
                    for step in steps
                    for kind, i in step.sources
                    if kind in ("param", "item") and self.spec.params[i].is_tensor
                }
            )
        )
        self.saved_results = tuple(sorted({i for step in steps for kind, i in step.sources if kind == "result"}))

    def backward_function(self, step: Any) -> Any:
        return self.function.operators.function(step.name)


class Call:
    """One call: its arguments with the tensors taken out and laid in a row, lists opened."""

    def __init__(self, plan: Plan, values: Sequence[Any]) -> None:
        self.plan = plan
        self.values = list(values)
        self.places: list[slice | int | None] = [None] * len(values)  # of each parameter's tensors in the row
        self.row: list[torch.Tensor] = []
        for i in plan.tensor_params:
            value = values[i]
            if value is None:
                continue
            self.values[i] = None
            if plan.spec.params[i].is_list:
                self.places[i] = slice(len(self.row), len(self.row) + len(value))
                self.row += value
            else:
                self.places[i] = len(self.row)
                self.row.append(value)

    def complete(self, row: Sequence[Any]) -> list[Any]:
        """The arguments with the tensors of such a row in their places."""
        values = list(self.values)
        for i, place in enumerate(self.places):
            if place is not None:
                values[i] = list(row[place]) if isinstance(place, slice) else row[place]
        return values

    def saved_places(self) -> list[int]:
        """Which tensors of the row the backward ops want."""
        found: list[int] = []
        for i in self.plan.saved_params:
            place = self.places[i]
            if isinstance(place, slice):
                found += range(place.start, place.stop)
            elif place is not None:
                found.append(place)
        return found

    def runs(self, step: Any, needed: Sequence[bool]) -> Iterator[tuple[int, Sequence[int | None]]]:
        """How often the step must run: for each time the number of the item, if its gradients are those of a list's items, and
        where in the row the tensors are whose gradients it gives."""
        places = [self.places[target] for target in step.targets]
        if isinstance(places[0], slice):
            first = places[0].start
            yield from ((i - first, [i]) for i in range(first, places[0].stop) if needed[i])
        elif any(place is not None and needed[place] for place in places):
            yield 0, places


def _forward(call: Call, row: Sequence[torch.Tensor], run: Callable[..., Any]) -> tuple[torch.Tensor, ...]:
    outputs: tuple[torch.Tensor, ...] = call.plan.function.outputs(run(*call.complete(row)))
    return outputs


def _keep(ctx: Any, call: Call, row: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]) -> None:
    """What the backward needs."""
    ctx.call = call
    ctx.set_materialize_grads(False)
    places = call.saved_places()
    ctx.save_for_backward(*(row[place] for place in places), *(outputs[i] for i in call.plan.saved_results))
    ctx.facts = [(output.shape, output.dtype, output.device) for output in outputs]
    whole = [output for output in outputs if not (output.dtype.is_floating_point or output.dtype.is_complex)]
    if whole:
        ctx.mark_non_differentiable(*whole)


def _backward(ctx: Any, needed: Sequence[bool], cotangents: Sequence[torch.Tensor | None]) -> list[torch.Tensor | None]:
    call: Call = ctx.call
    plan = call.plan
    places = call.saved_places()
    saved = ctx.saved_tensors  # once: checkpointing counts
    row: list[Any] = [None] * len(call.row)
    for place, tensor in zip(places, saved, strict=False):
        row[place] = tensor
    values = call.complete(row)
    results = dict(zip(plan.saved_results, saved[len(places) :], strict=True))
    gradients: list[torch.Tensor | None] = [None] * len(call.row)
    _refuse_unused(plan, cotangents)
    for step in plan.steps:
        function = plan.backward_function(step)
        for item, targets in call.runs(step, needed):
            arguments: list[Any] = []
            for param, (source, index) in zip(function.spec.params, step.sources, strict=True):
                if source == "param":
                    arguments.append(values[index])
                elif source == "item":
                    arguments.append(values[index][item])
                elif source == "index":
                    arguments.append(item)
                elif source == "result":
                    arguments.append(results[index])
                elif source == "cotangent":
                    arguments.append(_cotangent(ctx, step, index, cotangents[index]))
                else:
                    arguments.append(param.default)
            for target, gradient in zip(targets, _run_backward(function, arguments), strict=True):
                if target is not None and needed[target]:
                    gradients[target] = gradient
    return gradients


def _refuse_unused(plan: Plan, cotangents: Sequence[torch.Tensor | None]) -> None:
    """A gradient that arrives for a result none of the backward ops asks for would be lost."""
    wanted = {index for step in plan.steps for kind, index in step.sources if kind == "cotangent"}
    for index, cotangent in enumerate(cotangents):
        if cotangent is not None and index not in wanted:
            result = plan.spec.results[index].name
            raise RuntimeError(
                f"{plan.spec.name}: a gradient arrived for {result}, but no backward op of {plan.spec.name} takes "
                f"d_{result}; its author adds that parameter, or mark what is computed from {result} with .detach()"
            )


def _cotangent(ctx: Any, step: Any, index: int, cotangent: torch.Tensor | None) -> torch.Tensor | None:
    if cotangent is not None:
        return cotangent.contiguous()
    if index in step.optional_cotangents:
        return None
    shape, dtype, device = ctx.facts[index]
    return torch.zeros(shape, dtype=dtype, device=device)


def _run_backward(function: Any, arguments: Sequence[Any]) -> tuple[torch.Tensor, ...]:
    values = tuple(arguments)
    if torch.is_grad_enabled() and any(isinstance(v, torch.Tensor) and v.requires_grad for v in values):
        if function.has_gradient:
            outputs: tuple[torch.Tensor, ...] = function.gradient.apply(values)
            return outputs
        outputs = function.outputs(function.run(*values))
        anchor = next(v for v in values if isinstance(v, torch.Tensor) and v.requires_grad)
        return tuple(_NoSecondOrder.apply(function.no_second_order(), anchor, output) for output in outputs)
    return function.outputs(function.run(*values))  # type: ignore[no-any-return]


class _NoSecondOrder(torch.autograd.Function):
    """A gradient whose own gradient is an error: it would be silently zero otherwise."""

    generate_vmap_rule = True

    @staticmethod
    def forward(message: str, anchor: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        return output.view_as(output)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.message = inputs[0]

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        raise RuntimeError(ctx.message)


class _Plain(torch.autograd.Function):
    """What plain autograd uses, at one level: no setup_context, which would cost each call."""

    @staticmethod
    def forward(ctx: Any, call: Call, *row: torch.Tensor) -> tuple[torch.Tensor, ...]:
        function = call.plan.function
        if torch._C._are_functorch_transforms_active():  # the next level may have something to record too
            with torch.enable_grad(), torch._C._AutoDispatchBelowAutograd():
                outputs = _forward(call, row, function.run_ad)
        else:
            outputs = _forward(call, row, function.run)
        _keep(ctx, call, row, outputs)
        return outputs

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> Any:
        return None, *_backward(ctx, ctx.needs_input_grad[1:], cotangents)


class _Transformed(torch.autograd.Function):
    """The same inside torch.func.grad, vjp and vmap."""

    generate_vmap_rule = True

    @staticmethod
    def forward(call: Call, *row: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return _forward(call, row, call.plan.function.run)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        call, *row = inputs
        _keep(ctx, call, row, output)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> Any:
        return None, *_backward(ctx, ctx.needs_input_grad[1:], cotangents)


# torch's own apply, below the one that turns to torch.func's transforms: in them, this is for one level.
_record: Callable[..., Any] = super(torch.autograd.Function, _Plain).apply


class Gradient:
    """The gradient of one function."""

    def __init__(self, function: Any, steps: Sequence[Any]) -> None:
        self._plan = Plan(function, steps)

    def node(self) -> Callable[..., Any] | None:
        """`record` for plain autograd alone, of positional values and for the one result; None where there are more, or lists."""
        plan = self._plan
        return _node.make(
            plan.function, plan.steps, lambda step, values: _run_backward(plan.backward_function(step), values)
        )

    def apply(self, values: Sequence[Any]) -> tuple[torch.Tensor, ...]:
        """All results, recorded; inside torch.func's transforms too."""
        if not torch._C._are_functorch_transforms_active():
            return self.record(values)
        call = Call(self._plan, values)
        outputs: tuple[torch.Tensor, ...] = _Transformed.apply(call, *call.row)
        return outputs

    def record(self, values: Sequence[Any]) -> tuple[torch.Tensor, ...]:
        """All results, with a node of plain autograd; inside torch.func's transforms, at the level that torch works at."""
        call = Call(self._plan, values)
        outputs: tuple[torch.Tensor, ...]
        if torch._C._are_functorch_transforms_active():
            with enable_single_level_autograd_function():
                outputs = _record(call, *call.row)
        else:
            outputs = _record(call, *call.row)
        call.row = [None] * len(call.row)  # type: ignore[list-item]  # only what was saved is kept
        return outputs
