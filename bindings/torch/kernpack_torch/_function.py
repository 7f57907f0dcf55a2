"""One function as a torch operator: how it is called, with and without gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from kernpack import _core
from kernpack._contract import Contract
from kernpack._private.torch import names
from torch.autograd.graph import increment_version

from . import _by_name, _fast_path, _refusals, _transposed, _values
from ._binder import bind, forward_to
from ._gradient import Gradient, below_autograd, refuse_later
from ._tangent import Tangents


class Function:
    """A function of a module. `op` is its one operator, which torch differentiates, batches, traces and shards."""

    def __init__(
        self, operators: Any, info: Any, contract: Contract, steps: Sequence[Any], tangent: Any | None
    ) -> None:
        self.operators = operators
        self.info = info
        self.name: str = info.name
        self.contract = contract
        packet = operators.packet(self.name)
        self.op = packet.default
        self.out = packet.out if self.contract.results else None
        self.has_gradient = bool(steps)
        self.is_derivative = operators.is_derivative(self.name)
        self.dispatch = _by_name.dispatch(self.op)  # before the operator may be made to call this function
        self.run = forward_to(self.contract, self.dispatch)
        self.dispatch_out = _by_name.dispatch(self.out) if self.out else None
        self.run_out = forward_to(self.contract, self.dispatch_out, with_results=True) if self.out else None
        self.gradient = Gradient(self, steps)
        self.tangents = Tangents(self, tangent)
        self._node: Callable[..., Any] | None = None
        self.call: Callable[..., Any] = bind(self.contract, self._call, self._call_out)

    @functools.cached_property
    def transpose(self) -> Any:
        """How its gradient with respect to the cotangents that it takes is computed; None: not at all."""
        return _transposed.of(self)

    def shorten(self) -> None:
        """Takes the way of usual calls out of all loops. Needs the module's other functions."""
        self._node = self.gradient.node() if self.has_gradient else None
        text, scope = _fast_path.shortcut(self, self._node)
        if text:
            self.call = bind(self.contract, self._call, self._call_out, text, **scope)

    # -------------------------------------------------------------- calls

    def _call(self, *values: Any) -> Any:
        values = tuple(_values.prepare(self.contract, values))
        try:
            return self.pick(self.all_results(values))
        except RuntimeError as error:
            _refusals.raise_as_kernel_did(error)
            raise

    def _call_out(self, out: Any, *values: Any) -> Any:
        if self.run_out is None:
            raise TypeError(f"{self.name}: out: expected no destination, because the function has no results")
        values = tuple(_values.prepare(self.contract, values))
        given = tuple(out) if isinstance(out, (tuple, list)) else (out,)
        if len(given) != len(self.contract.results):
            raise TypeError(f"{self.name}: out: expected {len(self.contract.results)} tensors, got {len(given)}")
        try:
            self._run_out(values, given)
        except RuntimeError as error:
            _refusals.raise_as_kernel_did(error)
            raise
        return self.pick(given)

    def _run_out(self, values: Sequence[Any], destinations: Sequence[Any]) -> None:
        tensors = list(_values.tensors(self.contract, values))
        if _core.torch_way(*(tensor for _, tensor in tensors), *destinations) != _fast_path.BELOW:
            self.run_out(*values, *destinations)
            return
        with names.BelowCounting():
            increment_version([*(tensor for param, tensor in tensors if param.mutated), *destinations])
            self.run_out(*values, *destinations)

    def all_results(self, values: Sequence[Any]) -> Sequence[Any]:
        """Every result of a call that torch may differentiate further."""
        given = list(_values.tensors(self.contract, values))
        way = _core.torch_way(*(tensor for _, tensor in given))
        if way == _fast_path.RECORD:
            return self.record(values)
        if way == _fast_path.ASK:
            return self.outputs(self.run(*values))
        with names.BelowCounting():
            increment_version([tensor for param, tensor in given if param.mutated])
            return self.outputs(self.run(*values))

    def record(self, values: Sequence[Any]) -> Sequence[Any]:
        """Every result of a call with arguments that require a gradient, at the level that torch works at; or why not."""
        for param, tensor in _values.tensors(self.contract, values):
            if param.name in self.contract.nondiff and tensor.requires_grad:
                raise _refusals.nondiff(self.info, param.name)
        if self._node is not None and not names.are_transforms_active():
            return (self._node(*values),)
        if self.has_gradient:
            return self.gradient.record(values)
        if not self.is_derivative:
            raise _refusals.no_gradient(self.info)
        # torch.func.grad and create_graph=True make the arguments of every backward op require a gradient, wanted or not.
        return refuse_later(self, values)

    def below_autograd(self, *values: Any) -> Sequence[Any]:
        """Every result, with nothing recorded at the level that torch works at; torch.func's next one may have something to."""
        with below_autograd():
            return self.outputs(self.run(*values))

    def outputs(self, raw: Any) -> Sequence[Any]:
        """Returns the value that an operator returned as a row of all results."""
        if len(self.contract.results) == 1:
            return (raw,)
        found: Sequence[Any] = () if raw is None else raw
        return found

    def returned(self, outputs: Sequence[Any]) -> Any:
        """A row of all results as an operator returns it."""
        return outputs[0] if len(outputs) == 1 else tuple(outputs) or None

    def pick(self, outputs: Sequence[Any]) -> Any:
        """Returns the results for the caller: None, one tensor, or a tuple."""
        returned = self.contract.returned
        if len(returned) == 1:
            return outputs[returned[0]]
        return tuple(outputs[i] for i in returned) if returned else None
