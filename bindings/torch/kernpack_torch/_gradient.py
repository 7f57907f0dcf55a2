"""The gradient that a module declares (KP_GRAD), as nodes of autograd that the operator's kernel records."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from kernpack._contract import Contract
from kernpack._private.torch import names

from . import _node, _refusals, _transposed, _values


class Plan:
    """Everything about one function's gradient that is fixed when it is registered."""

    def __init__(self, function: Any, steps: Sequence[Any]) -> None:
        self.function = function
        self.contract: Contract = function.contract
        self.steps = tuple(steps)
        self.tensor_params = tuple(i for i, param in enumerate(self.contract.parameters) if param.is_tensor)
        self.saved_params = tuple(
            sorted(
                {
                    i
                    for step in steps
                    for kind, i in step.sources
                    if kind in ("param", "item") and self.contract.parameters[i].is_tensor
                }
            )
        )
        self._depth = threading.local()
        self.shaped_params = tuple(sorted({i for step in steps for kind, i in step.sources if kind == "shape"}))
        self.saved_results = tuple(sorted({i for step in steps for kind, i in step.sources if kind == "result"}))

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """While the function runs below its node: for other levels of torch.func, which cannot see that there is one."""
        self._depth.value = self.depth + 1
        try:
            yield
        finally:
            self._depth.value -= 1

    @property
    def depth(self) -> int:
        return getattr(self._depth, "value", 0)

    def backward_function(self, step: Any) -> Any:
        return self.function.operators.function(step.name)


class Call:
    """One call: its arguments with the tensors taken out and laid in a row, lists opened."""

    def __init__(self, plan: Plan, values: Sequence[Any]) -> None:
        self.plan = plan
        self.tangents: Any = None
        self.values = list(values)
        self.places: list[slice | int | None] = [None] * len(values)  # of each parameter's tensors in the row
        self.row: list[torch.Tensor] = []
        for i in plan.tensor_params:
            value = values[i]
            if value is None:
                continue
            self.values[i] = None
            if plan.contract.parameters[i].is_list:
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


def _keep(ctx: Any, call: Call, row: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]) -> None:
    """Keeps the tensors that the backward pass needs."""
    ctx.call = call
    ctx.set_materialize_grads(False)
    places = call.saved_places()
    ctx.save_for_backward(*(row[place] for place in places), *(outputs[i] for i in call.plan.saved_results))
    ctx.shapes = {i: list(row[call.places[i]].shape) for i in call.plan.shaped_params if call.places[i] is not None}
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
            for param, (source, index) in zip(function.contract.parameters, step.sources, strict=True):
                if source == "param":
                    arguments.append(values[index])
                elif source == "item":
                    arguments.append(values[index][item])
                elif source == "index":
                    arguments.append(item)
                elif source == "result":
                    arguments.append(results[index])
                elif source == "shape":
                    arguments.append(ctx.shapes[index])
                elif source == "cotangent":
                    arguments.append(_cotangent(ctx, step, index, cotangents[index]))
                else:
                    arguments.append(param.default)
            for target, gradient in zip(targets, function.all_results(arguments), strict=True):
                if target is not None and needed[target]:
                    gradients[target] = gradient
    return gradients


def _refuse_unused(plan: Plan, cotangents: Sequence[torch.Tensor | None]) -> None:
    """A gradient that arrives for a result none of the backward ops asks for would be lost."""
    wanted = {index for step in plan.steps for kind, index in step.sources if kind == "cotangent"}
    for index, cotangent in enumerate(cotangents):
        if cotangent is not None and index not in wanted:
            result = plan.contract.results[index].name
            raise RuntimeError(
                f"{plan.contract.name}: a gradient arrived for {result}, but no backward op of {plan.contract.name} takes "
                f"d_{result}; its author adds that parameter, or mark what is computed from {result} with .detach()"
            )


def _cotangent(ctx: Any, step: Any, index: int, cotangent: torch.Tensor | None) -> torch.Tensor | None:
    if cotangent is not None:
        return cotangent.contiguous()
    if index in step.optional_cotangents:
        return None
    shape, dtype, device = ctx.facts[index]
    return torch.zeros(shape, dtype=dtype, device=device)


@contextlib.contextmanager
def below_autograd() -> Iterator[None]:
    """For what runs below a node: nothing is recorded at its level. A node's forward runs with both modes of differentiation off, which
    holds for its own level of torch.func only: they are on for the next one."""
    levels = names.are_transforms_active()
    with (
        torch.set_grad_enabled(levels),
        names.set_forward_mode(levels),
        names.BelowAutograd(),
    ):
        yield


class _Declared(names.Node):
    """The node of any function with a gradient."""

    @staticmethod
    def forward(ctx: Any, call: Call, *row: torch.Tensor) -> tuple[torch.Tensor, ...]:
        with call.plan.recording():
            outputs = tuple(call.plan.function.below_autograd(*call.complete(row)))
        _keep(ctx, call, row, outputs)
        return outputs

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> Any:
        return None, *_backward(ctx, ctx.needs_input_grad[1:], cotangents)


class _Both(_Declared):
    """The node of a call whose arguments carry tangents too."""

    @staticmethod
    def forward(ctx: Any, call: Call, *row: torch.Tensor) -> tuple[torch.Tensor, ...]:
        outputs = _Declared.forward(ctx, call, *row)
        call.tangents.refuse_hidden(outputs)
        ctx.both = (row, outputs)
        return outputs

    @staticmethod
    def jvp(ctx: Any, call: Any, *tangents: torch.Tensor | None) -> Any:
        (row, outputs), ctx.both = ctx.both, None  # it would keep itself alive
        call = ctx.call
        given = call.complete(tangents)
        by_parameter = {i: given[i] for i, place in enumerate(call.places) if place is not None}
        return tuple(call.tangents.derive(call.complete(row), outputs, by_parameter))


class _Refused(names.Node):
    """Results whose own gradient is an error: it would be silently zero otherwise."""

    @staticmethod
    def forward(ctx: Any, info: Any, num_results: int, *row: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.info = info
        with below_autograd():
            return tuple(result.view_as(result) for result in row[:num_results])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        raise _refusals.no_second_order(ctx.info)


_record: Callable[..., Any] = _Declared.apply
_record_both: Callable[..., Any] = _Both.apply
_refuse: Callable[..., Any] = _Refused.apply


def _one_level() -> contextlib.AbstractContextManager[None]:
    """Inside torch.func's transforms a kernel at the Autograd key works at one level of them."""
    return names.single_level() if names.are_transforms_active() else contextlib.nullcontext()


def refuse_later(function: Any, values: Sequence[Any]) -> Sequence[torch.Tensor]:
    """All results of a backward op without a gradient: an error for who differentiates them with respect to more than what the op is
    linear in."""
    transpose = function.transpose if _transposed.is_real(values) else None
    linear = {place for place, _ in transpose.cotangents} if transpose is not None else set()
    constants = [None if i in linear else value for i, value in enumerate(values)]
    live = [tensor for _, tensor in _values.tensors(function.contract, constants) if tensor.requires_grad]
    with _one_level():
        outputs = list(function.below_autograd(*values)) if transpose is None else _transposed.record(transpose, values)
        whole = [i for i, output in enumerate(outputs) if output.dtype.is_floating_point or output.dtype.is_complex]
        if transpose is None:
            refused = _refuse(function.info, len(whole), *(outputs[i] for i in whole), *live)
        elif live:  # zeros that carry the error, so that a gradient that needs only the linear part doesn't meet it
            zeros = _refuse(function.info, len(whole), *(_zeros(outputs[i]) for i in whole), *live)
            refused = tuple(outputs[i] - zero for i, zero in zip(whole, zeros, strict=True))
        else:
            return outputs
    for i, output in zip(whole, refused, strict=True):
        outputs[i] = output
    return outputs


def _zeros(like: torch.Tensor) -> torch.Tensor:
    return torch.zeros((), dtype=like.dtype, device=like.device).expand(like.shape)


class Gradient:
    """The gradient of one function."""

    def __init__(self, function: Any, steps: Sequence[Any]) -> None:
        self._plan = Plan(function, steps)

    @property
    def steps(self) -> tuple[Any, ...]:
        """The backward ops."""
        return self._plan.steps

    @property
    def saved_results(self) -> tuple[int, ...]:
        return self._plan.saved_results

    def records_above(self) -> bool:
        """True if this thread is in a call of the function that a level of torch.func records for reverse mode."""
        return self._plan.depth > 0

    def node(self) -> Callable[..., Any] | None:
        """`record` for plain autograd alone, of positional values and for the one result; None where there are more, or lists."""
        plan = self._plan
        return _node.make(
            plan.function, plan.steps, lambda step, values: plan.backward_function(step).all_results(values)
        )

    def record(self, values: Sequence[Any]) -> tuple[torch.Tensor, ...]:
        """All results, with a node of plain autograd; inside torch.func's transforms, at the level that torch works at."""
        return self._record(_record, Call(self._plan, values))

    def record_both(self, values: Sequence[Any], tangents: Any) -> tuple[torch.Tensor, ...]:
        """As `record`, of values that carry tangents: the results do too."""
        call = Call(self._plan, values)
        call.tangents = tangents
        return self._record(_record_both, call)

    def _record(self, apply: Callable[..., Any], call: Call) -> tuple[torch.Tensor, ...]:
        with _one_level():
            outputs: tuple[torch.Tensor, ...] = apply(call, *call.row)
        call.row = [None] * len(call.row)  # type: ignore[list-item]  # only what was saved is kept
        return outputs
