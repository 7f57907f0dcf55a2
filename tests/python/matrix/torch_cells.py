"""What each function does in PyTorch, one column a transformation: a check gives the cell's word, or fails."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from samples import Sample

ITEMS = 3


def _flat(outputs: Any) -> list[np.ndarray]:
    return [np.asarray(output) for output in (outputs if isinstance(outputs, tuple) else (outputs,))]


def _same(found: Any, expected: Any, sample: Sample) -> None:
    for a, b in zip(_flat(found), _flat(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=sample.tolerance, atol=sample.tolerance)


def _tensors(sample: Sample) -> list[torch.Tensor]:
    return [torch.from_numpy(value) for value in sample.args]


def eager(op: Callable[..., Any], sample: Sample) -> str:
    expected = op(*sample.args, **sample.kwargs)
    _same(op(*_tensors(sample), **sample.kwargs), expected, sample)
    function = op.__self__  # type: ignore[attr-defined]
    raw = _flat(getattr(torch.ops.kernpack_kernels, function.name)(*_tensors(sample), **sample.kwargs))
    _same(tuple(raw[: len(_flat(expected))]), expected, sample)  # the operator has what is saved for the backward too
    return "yes"


def compile(op: Callable[..., Any], sample: Sample) -> str:
    torch._dynamo.reset()
    run = torch.compile(lambda *args: op(*args, **sample.kwargs), fullgraph=True, backend="aot_eager")
    _same(run(*_tensors(sample)), op(*sample.args, **sample.kwargs), sample)
    return "yes"


def vmap(op: Callable[..., Any], sample: Sample) -> str:
    axes = tuple(0 if index in sample.mapped else None for index in range(len(sample.args)))
    stacked = sample.stacked(ITEMS)
    mapped = torch.func.vmap(functools.partial(op, **sample.kwargs), axes)
    found = _flat(mapped(*(torch.from_numpy(value) for value in stacked)))
    for n in range(ITEMS):
        _same(tuple(output[n] for output in found), op(*sample.item(stacked, n), **sample.kwargs), sample)
    return "yes"


def grad(op: Callable[..., Any], sample: Sample) -> str:
    args = [tensor.requires_grad_() if i in sample.floats() else tensor for i, tensor in enumerate(_tensors(sample))]
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
    _same(torch.export.load(file).module()(*_tensors(sample)), op(*sample.args, **sample.kwargs), sample)
    return "yes"


COLUMNS = {"eager": eager, "compile": compile, "vmap": vmap, "grad": grad, "export": export}
