"""The autograd node of the usual function: one result, no lists. The same as _gradient.py does for every function, written out
for one, because in eager programs each Python statement costs as much as a small kernel. Without it, forward and backward of gelu and
rms_norm on [4, 8] take 2.5 times as long (18 us with it, 40 us and more without)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from kernpack._contract import Parameter
from kernpack._private.torch.names import Node

from ._binder import arguments, define, is_simple

_FORWARD = """
def forward(ctx, {params}):
    _out = _run({run}){shapes}
    ctx.save_for_backward({saved})
    ctx.statics = ({statics})
    ctx.set_materialize_grads(False)
    return _out
"""

_BACKWARD = """
def backward(ctx, _d):
    if _d is None:
        return {nothing}
    _d = _d.contiguous()
    {saved} = ctx.saved_tensors
    {statics} = ctx.statics
    _needed = ctx.needs_input_grad
    {made} = {nothing}
{steps}
    return {given}
"""

_STEP = """
    if {needed}:
        {targets} = _slow_{i}({plain}) if _grad_mode() else {fast}
"""


def make(function: Any, steps: Sequence[Any], slow: Callable[..., Any]) -> Callable[..., Any] | None:
    """`apply` of one value per parameter, giving the result; None where the function is not of the usual kind.

    slow(step, arguments): runs a backward op so that its result can be differentiated again.
    """
    contract = function.contract
    if not is_simple(contract) or len(contract.results) != 1 or contract.results[0].aux or contract.mutates:
        return None
    names = [f"_{i}" for i in range(len(contract.parameters))]
    tensors = [i for i, param in enumerate(contract.parameters) if param.is_tensor]
    wanted = {index for step in steps for kind, index in step.sources if kind == "param"}
    saved = [names[i] for i in tensors if i in wanted]
    if any(kind == "result" for step in steps for kind, _ in step.sources):
        saved.append("_out")
    statics = [names[i] for i in range(len(names)) if i not in tensors and i in wanted]
    shaped = sorted({index for step in steps for kind, index in step.sources if kind == "shape"})
    statics += [f"_shape_{i}" for i in shaped]
    scope: dict[str, Any] = {"_run": function.info.callable, "_grad_mode": torch.is_grad_enabled}
    text = [_step(function, step, i, names, scope, slow) for i, step in enumerate(steps)]
    forward = _FORWARD.format(
        params=", ".join(names),
        run=arguments(contract, names),
        shapes="".join(f"\n    _shape_{i} = {_shape(contract.parameters[i], names[i])}" for i in shaped),
        saved=", ".join(saved),
        statics=_row(statics),
    )
    backward = _BACKWARD.format(
        nothing=_row(["None"] * len(names)),
        saved=_targets(saved),
        statics=_targets(statics),
        made=_row([f"_g{i}" if i in tensors else "_" for i in range(len(names))]),
        given=_row(
            [
                "None" if i not in tensors else f"_g{i} if _needed[{i}] else None" if param.optional else f"_g{i}"
                for i, param in enumerate(contract.parameters)
            ]
        ),
        steps="".join(text),
    )
    members = {
        "forward": staticmethod(define("forward", forward, dict(scope))),
        "backward": staticmethod(define("backward", backward, dict(scope))),
    }
    node: Any = type(f"{contract.name}_gradient", (Node,), members)
    apply: Callable[..., Any] = node.apply  # callers have looked for torch.func's transforms
    return apply


def _shape(param: Parameter, name: str) -> str:
    return f"None if {name} is None else list({name}.shape)" if param.optional else f"list({name}.shape)"


def _row(items: Sequence[str]) -> str:
    return "".join(f"{item}, " for item in items)


def _targets(items: Sequence[str]) -> str:
    return f"({_row(items)})" if items else "_"


def _step(
    function: Any, step: Any, index: int, names: Sequence[str], scope: dict[str, Any], slow: Callable[..., Any]
) -> str:
    backward = function.operators.function(step.name)
    values = []
    for param, (source, i) in zip(backward.contract.parameters, step.sources, strict=True):
        scope[f"_default_{index}_{i}"] = param.default
        known = {"param": names[i], "result": "_out", "cotangent": "_d", "shape": f"_shape_{i}"}
        values.append(known.get(source, f"_default_{index}_{i}"))
    scope[f"_fast_{index}"] = backward.info.callable
    scope[f"_slow_{index}"] = lambda *given: slow(step, given)
    targets = _row([f"_g{target}" for target in step.targets])
    fast = f"_fast_{index}({arguments(backward.contract, values)})"
    return _STEP.format(
        needed=" or ".join(f"_needed[{target}]" for target in step.targets),
        targets=targets,
        i=index,
        plain=", ".join(values),
        fast=fast if len(step.targets) > 1 else f"({fast},)",
    )
