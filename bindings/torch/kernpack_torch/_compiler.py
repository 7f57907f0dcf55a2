"""torch.compile reads a Python function in place of the builtin that eager programs call."""

from __future__ import annotations

from typing import Any

import torch

from . import _values
from ._binder import bind, forward_to, is_simple


def substitute(operators: Any) -> None:
    for function in operators:
        _substitute(function)


def _substitute(function: Any) -> None:
    spec, op = function.spec, forward_to(function.spec, function.op)
    out = forward_to(spec, function.out, with_results=True) if function.out is not None else None

    def call(*values: Any) -> Any:
        return function.pick(function.outputs(op(*_values.prepare(spec, values))))

    def call_out(given: Any, *values: Any) -> Any:
        destinations = tuple(given) if isinstance(given, (tuple, list)) else (given,)
        out(*_values.prepare(spec, values), *destinations)  # type: ignore[misc]
        return function.pick(destinations)

    substitute_one = torch.compiler.substitute_in_graph(function.info.callable, skip_signature_check=True)
    if is_simple(spec) and len(spec.results) == 1 and not spec.results[0].aux:
        substitute_one(bind(spec, function.op, call_out, keywords=True))
    else:
        substitute_one(bind(spec, call, call_out))
