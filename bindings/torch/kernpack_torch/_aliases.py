"""Tensors that share memory with one that is written, in programs that torch makes functional (aot_autograd).

There, torch gives the operator a copy of what it writes to, and the kernel, which refuses such calls, would see nothing. It copies all
that the schema says is written, and keeps what these tensors share. So such a call goes to an overload that says so of every tensor.
It's also given the tensors that these are views of: inductor would compute each view by itself where it can.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from kernpack._private.torch import names

# Of the operator's overloads "default" and "out".
OVERLOADS = {"default": "aliased", "out": "out_aliased"}


def define(library: torch.library.Library, op: Any, overload: str, fake: Callable[..., Any]) -> Any:
    """The overload, which calls `op`."""
    found = names.schema(op)
    parameters, returns = str(found).rsplit(") -> ", 1)
    parameters = parameters.partition("(")[2]
    letters = iter(range(len(found.arguments)))
    written = re.sub(r"\bTensor(?!\()", lambda _: f"Tensor(s{next(letters)}!)", parameters)
    name = f"{found.name.partition('::')[2]}.{OVERLOADS[overload]}"
    library.define(f"{name}(Tensor(b!)[] KP_bases, {written}) -> {returns}")
    library.impl(name, _without_bases(op), "CompositeExplicitAutograd")
    torch.library.register_fake(f"{found.name}.{OVERLOADS[overload]}", _without_bases(fake), lib=library)
    return of(op)


def of(op: Any) -> Any:
    """The overload that `define` made of an operator's."""
    return getattr(op.overloadpacket, OVERLOADS[names.schema(op).overload_name or "default"])


def _without_bases(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda bases, /, *args, **kwargs: call(*args, **kwargs)


def shared(positions: Mapping[str, int], mutated: Sequence[str], args: Any, kwargs: Any) -> list[torch.Tensor]:
    """Where the program is made functional: the memory of tensors that are written which another tensor may share."""
    everything = list(_tensors((args, tuple(kwargs.values()))))
    if not any(map(names.is_functional, everything)):
        return []
    written = _tensors([kwargs[name] if name in kwargs else args[positions[name]] for name in mutated])
    found = [names.base(one) for one in written if sum(_may_share(one, other) for other in everything) > 1]
    return list({id(base): base for base in found}.values())


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _may_share(a: torch.Tensor, b: torch.Tensor) -> bool:
    """True if both tensors may use one stretch of memory. True also if only the run of the program can tell."""
    if names.base(a) is not names.base(b):
        return False
    first, last = _bytes(a)
    begin, end = _bytes(b)
    if not all(isinstance(at, int) for at in (first, last, begin, end)):
        return True
    return bool(first < end and begin < last)


def _bytes(tensor: torch.Tensor) -> tuple[Any, Any]:
    """The first byte of its memory, and the one behind the last."""
    begin = tensor.storage_offset()
    end: Any = begin + 1
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        if isinstance(size, int) and size == 0:
            return 0, 0
        end = end + (size - 1) * stride
    return begin * tensor.element_size(), end * tensor.element_size()
