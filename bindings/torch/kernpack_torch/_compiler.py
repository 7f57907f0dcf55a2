"""torch.compile reads a Python function in place of the builtin that eager programs call."""

from __future__ import annotations

from typing import Any

import torch

from . import _values
from ._binder import arguments, bind, is_simple, wants_gradient


def substitute(operators: Any) -> None:
    for function in operators:
        _substitute(function)


_SHORTCUT = """
if out is None:
    if {wants_ad}:
        return _ad({arguments})
    return _op({arguments})
"""


def _substitute(function: Any) -> None:
    """The graph gets `ad` where a gradient is wanted: below autograd that becomes `default`, with nothing to trace of how a
    gradient is recorded."""
    spec, run, run_ad, run_out = function.spec, function.run, function.run_ad, function.run_out

    def call(*values: Any) -> Any:
        prepared = _values.prepare(spec, values)
        if torch.compiler.is_exporting() or (torch.is_grad_enabled() and _values.requires_grad(spec, prepared)):
            if run_ad is not None:
                return function.pick(function.outputs(run_ad(*prepared)))
            _refuse(prepared)
        return function.pick(function.outputs(run(*prepared)))

    def _refuse(values: Any) -> None:
        if torch.is_grad_enabled() and _values.requires_grad(spec, values):
            raise RuntimeError(function.no_gradient())

    def call_out(out: Any, *values: Any) -> Any:
        given = tuple(out) if isinstance(out, (tuple, list)) else (out,)
        run_out(*_values.prepare(spec, values), *given)
        return function.pick(given)

    shortcut = ""
    if function.ad is not None and is_simple(spec) and len(spec.results) == 1 and not spec.results[0].aux:
        shortcut = _SHORTCUT.format(
            wants_ad=f"_exporting() or (_grad_mode() and ({wants_gradient(spec)}))",
            arguments=arguments(spec, [param.name for param in spec.params]),
        )
    names = {
        "_exporting": torch.compiler.is_exporting,
        "_grad_mode": torch.is_grad_enabled,
        "_ad": function.ad,
        "_op": function.op,
    }
    substitute_one = torch.compiler.substitute_in_graph(function.info.callable, skip_signature_check=True)
    substitute_one(bind(spec, call, call_out, shortcut, **names))
