"""torch.compile reads a Python function in place of the builtin that eager programs call."""

from __future__ import annotations

from typing import Any

import torch

from . import _values
from ._binder import bind, is_simple


def substitute(operators: Any) -> None:
    for function in operators:
        _substitute(function)


def _substitute(function: Any) -> None:
    """The graph gets `ad`, whoever wants a gradient: below autograd that becomes `default`, with nothing to trace of how a
    gradient is recorded or that none is wanted. While a graph is made, a tensor does not say that torch.func differentiates it."""
    spec, run, run_out = function.spec, function.run_ad, function.run_out

    def call(*values: Any) -> Any:
        return function.pick(function.outputs(run(*_values.prepare(spec, values))))

    def call_out(out: Any, *values: Any) -> Any:
        if torch.is_grad_enabled() and _values.requires_grad(spec, values):
            raise RuntimeError(function.no_destination())
        given = tuple(out) if isinstance(out, (tuple, list)) else (out,)
        run_out(*_values.prepare(spec, values), *given)
        return function.pick(given)

    substitute_one = torch.compiler.substitute_in_graph(function.info.callable, skip_signature_check=True)
    if is_simple(spec) and len(spec.results) == 1 and not spec.results[0].aux:
        substitute_one(bind(spec, function.ad, call_out, keywords=True))
    else:
        substitute_one(bind(spec, call, call_out))
