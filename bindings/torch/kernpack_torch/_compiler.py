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
    contract, op = function.contract, forward_to(function.contract, function.op)
    out = forward_to(contract, function.out, with_results=True) if function.out is not None else None

    def call(*values: Any) -> Any:
        return function.pick(function.outputs(op(*_values.prepare(contract, values))))

    def call_out(given: Any, *values: Any) -> Any:
        destinations = tuple(given) if isinstance(given, (tuple, list)) else (given,)
        out(*_values.prepare(contract, values), *destinations)  # type: ignore[misc]
        return function.pick(destinations)

    substitute_one = torch.compiler.substitute_in_graph(function.info.callable, skip_signature_check=True)
    if is_simple(contract) and len(contract.results) == 1 and not contract.results[0].aux:
        substitute_one(bind(contract, function.op, call_out, keywords=True))
    else:
        substitute_one(bind(contract, call, call_out))
