"""Declared derivatives as torch's autograd gives them, and the arguments that have one."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from kernpack_sdk.testing import compare
from kernpack_sdk.testing.case import Call
from kernpack_sdk.testing.frameworks import as_tuple, framework, split

_PLACE = re.compile(r"^(\w+?)(?:\[(\d+)\])?$")


def places(call: Call) -> list[str]:
    """Real arguments that a gradient may be asked for: "x", "xs[1]". Not those written in place."""
    contract = call.op.contract
    assert contract is not None
    found = []
    for parameter in contract.parameters:
        value = call.values[parameter.name]
        if parameter.tensor is None or parameter.mutated or parameter.name in contract.nondiff:
            continue
        items = (
            [(f"{parameter.name}[{i}]", item) for i, item in enumerate(value)]
            if isinstance(value, list)
            else [(parameter.name, value)]
        )
        found += [
            place for place, item in items if isinstance(item, np.ndarray) and item.dtype.name in ("float32", "float64")
        ]
    return found


def at_place(call: Call, place: str) -> np.ndarray:
    name, index = _parsed(place)
    value = call.values[name]
    return value if index is None else value[index]


def _parsed(place: str) -> tuple[str, int | None]:
    found = _PLACE.match(place)
    assert found is not None
    return found[1], None if found[2] is None else int(found[2])


def with_place(call: Call, place: str, array: np.ndarray) -> Call:
    name, index = _parsed(place)
    if index is None:
        return call.replaced(**{name: array})
    return call.replaced(**{name: [*call.values[name][:index], array, *call.values[name][index + 1 :]]})


def moved(call: Call, place: str, at: tuple[int, ...], by: float) -> Call:
    array = at_place(call, place).copy()
    array[at] += by
    return with_place(call, place, array)


def along(call: Call, directions: dict[str, np.ndarray], by: float) -> Call:
    for place, direction in directions.items():
        call = with_place(call, place, at_place(call, place) + (by * direction).astype(direction.dtype))
    return call


def gradients(call: Call, arriving: list[np.ndarray]) -> dict[str, np.ndarray] | str:
    """By place; or the error. arriving: the gradient of each array that the call gives."""
    torch = framework("torch")
    wanted = places(call)
    values = torch.values(call)
    leaves = []
    for place in wanted:
        name, index = _parsed(place)
        leaf = (values[name] if index is None else values[name][index]).requires_grad_()
        leaves.append(leaf)
    positional, named = call.arguments(values)
    try:
        outs = as_tuple(call.op.function(*positional, **named))
        pairs = [(out, d) for out, d in zip(outs, arriving, strict=False) if out.requires_grad]
        if not pairs or not leaves:
            return {}
        import torch as module

        given = module.autograd.grad(
            [out for out, _ in pairs],
            leaves,
            [module.from_numpy(np.asarray(d)).to(out.dtype) for out, d in pairs],
            allow_unused=True,
        )
    except Exception as error:  # whatever the backward op raises
        return f"it raised {type(error).__name__}: {str(error).splitlines()[0][:300]}"
    return {place: torch.read(grad) for place, grad in zip(wanted, given, strict=True) if grad is not None}


def tangents(call: Call, directions: dict[str, np.ndarray]) -> dict[int, np.ndarray] | str:
    """By the result's position; or the error."""
    torch = framework("torch")
    import torch as module

    values = torch.values(call)
    tensors, rebuild = split(values, module.Tensor)
    given = [_draw_direction(call, directions, tensor, values) for tensor in tensors]

    def program(*changed: Any) -> Any:
        full = list(tensors)
        for i, tensor in zip(which, changed, strict=True):
            full[i] = tensor
        positional, named = call.arguments(rebuild(full))
        return as_tuple(call.op.function(*positional, **named))

    which = [i for i, direction in enumerate(given) if direction is not None]
    try:
        primals = tuple(tensors[i] for i in which)
        out = module.func.jvp(program, primals, tuple(torch.make(each) for each in given if each is not None))[1]
    except Exception as error:  # whatever the tangent op raises
        return f"it raised {type(error).__name__}: {str(error).splitlines()[0][:300]}"
    return {i: torch.read(each) for i, each in enumerate(out) if compare.is_inexact(torch.read(each).dtype)}


def _draw_direction(
    call: Call, directions: dict[str, np.ndarray], tensor: Any, values: dict[str, Any]
) -> np.ndarray | None:
    for place, direction in directions.items():
        name, index = _parsed(place)
        if (values[name] if index is None else values[name][index]) is tensor:
            return direction
    return None
