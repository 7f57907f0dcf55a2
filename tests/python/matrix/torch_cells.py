"""The behaviour of each function in PyTorch, one column per transformation: a check gives the cell's word, or fails."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from op_sample import Sample

ITEMS = 3


def _tensors(sample: Sample) -> list[Any]:
    return sample.arrays(lambda value: torch.from_numpy(np.array(value)))


def eager(op: Callable[..., Any], sample: Sample) -> str:
    expected = sample.expected(op)
    sample.same(sample.call(op, _tensors(sample)), expected)
    function = op.__self__  # type: ignore[attr-defined]
    raw = sample.call(getattr(torch.ops.kernpack_kernels, function.name), _tensors(sample))
    sample.same(raw[: len(expected)], expected)  # the operator has what is saved for the backward too
    return "yes"


def compile(op: Callable[..., Any], sample: Sample) -> str:
    torch._dynamo.reset()
    run = torch.compile(lambda *args: op(*args, **sample.kwargs), fullgraph=True, backend="aot_eager")
    args = _tensors(sample)
    results = run(*args)
    sample.same([[args[i] for i in sample.writes], results], sample.expected(op))
    return "yes"


def vmap(op: Callable[..., Any], sample: Sample) -> str:
    axes = tuple(0 if index in sample.mapped else None for index in range(len(sample.args)))
    stacked = sample.stacked(ITEMS)
    tensors = [[torch.from_numpy(x) for x in a] if isinstance(a, list) else torch.from_numpy(a) for a in stacked]
    items = [sample.call(op, sample.item(stacked, n)) for n in range(ITEMS)]
    found = torch.func.vmap(lambda *args: tuple(sample.call(op, list(args))), axes)(*tensors)
    for n, expected in enumerate(items):
        sample.same([output[n] for output in found], expected)
    return "yes"


def grad(op: Callable[..., Any], sample: Sample) -> str:
    floats = sample.floats()
    args = [tensor.requires_grad_() if i in floats else tensor for i, tensor in enumerate(_tensors(sample))]
    assert torch.autograd.gradcheck(functools.partial(op, **sample.kwargs), args, **sample.slopes)
    return "yes"


class _Program(torch.nn.Module):
    def __init__(self, op: Callable[..., Any], kwargs: dict[str, Any]) -> None:
        super().__init__()
        self.run = functools.partial(op, **kwargs)

    def forward(self, *args: torch.Tensor) -> Any:
        return self.run(*args)


def export(op: Callable[..., Any], sample: Sample) -> str:
    file = io.BytesIO()
    torch.export.save(torch.export.export(_Program(op, sample.kwargs), tuple(_tensors(sample))), file)
    file.seek(0)
    args = _tensors(sample)
    results = torch.export.load(file).module()(*args)
    sample.same([[args[i] for i in sample.writes], results], sample.expected(op))
    return "yes"


COLUMNS = {"eager": eager, "compile": compile, "vmap": vmap, "grad": grad, "export": export}
