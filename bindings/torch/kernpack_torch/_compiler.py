"""torch.compile reads a Python function in place of the builtin that eager programs call."""

from __future__ import annotations

from typing import Any

import torch

from . import _values
from ._binder import bind


def substitute(operators: Any) -> None:
    for function in operators:
        _substitute(function)


def _substitute(function: Any) -> None:
    """The graph gets `ad` where the function has a gradient: below autograd that becomes `default`, with nothing to trace of
    how a gradient is recorded."""
    spec, run_out = function.spec, function.run_out
    run = function.run if function.ad is None else function.run_ad
    differentiable = function.ad is not None
    message = None if differentiable else function.no_gradient()

    def call(*values: Any) -> Any:
        prepared = _values.prepare(spec, values)
        if not differentiable and torch.is_grad_enabled() and _values.requires_grad(spec, prepared):
            raise RuntimeError(message)
        return function.pick(function.outputs(run(*prepared)))

    def call_out(out: Any, *values: Any) -> Any:
        given = tuple(out) if isinstance(out, (tuple, list)) else (out,)
        run_out(*_values.prepare(spec, values), *given)
        return function.pick(given)

    substitute_one = torch.compiler.substitute_in_graph(function.info.callable, skip_signature_check=True)
    substitute_one(bind(spec, call, call_out))
