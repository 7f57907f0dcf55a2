"""Checks torch's requirements on an operator: opcheck, vmap, export, autograd's own bookkeeping."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from kernpack_sdk.testing import compare
from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding, Skipped
from kernpack_sdk.testing.checks.repeat import error_bound
from kernpack_sdk.testing.frameworks import NUMPY, accepted, as_tuple, framework, list_names, split


def _is_finite(bench: Bench, call: Call) -> bool:
    outcome = bench.run(call)
    return outcome.error is None and all(np.isfinite(compare.widened(each)).all() for each in outcome.arrays)


def _finite_calls(bench: Bench, quick: int, full: int) -> list[Call]:
    """opcheck takes a NaN for a difference from itself, and options may make some of finite values: a negative eps."""
    likely = bench.few_with_elements(6 * quick, 6 * full)
    finite = (call for call in likely if _is_finite(bench, call))
    return list(islice(finite, full if bench.options.full else quick))


def opcheck(bench: Bench) -> Iterator[Finding]:
    """torch.library.opcheck: schema, fake implementation, autograd registration, AOT dispatch with dynamic sizes."""
    import kernpack.torch
    import torch

    namespace = getattr(torch.ops, kernpack.torch.ops(bench.op.module).namespace)
    operator = getattr(namespace, bench.op.name).default
    torch_ = framework("torch")
    calls = _finite_calls(bench, 1, 3)
    if not calls:
        raise Skipped("no call that was tried has elements, and finite results")
    for call in calls:
        bench.starts(call, " under torch.library.opcheck")
        args, kwargs = _by_schema(operator, bench.op.contract, torch_.values(call))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                torch.library.opcheck(operator, args, kwargs)
        except Exception as error:  # opcheck raises its own kinds and others'
            lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
            yield Finding(f"expected torch.library.opcheck to pass, but {' '.join(lines)[:500]}", call.text())
            return


def _by_schema(operator: Any, contract: Any, values: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    import torch

    args, kwargs = [], {}
    for argument, param in zip(operator._schema.arguments, contract.parameters, strict=True):  # names may differ
        value = values[param.name]
        if type(value).__name__ == "DType":
            value = getattr(torch, str(value)) if hasattr(torch, str(value)) else value
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    return tuple(args), kwargs


def vmap(bench: Bench) -> Iterator[Finding]:
    """Over a new first dim of every tensor, against a loop."""
    import torch

    torch_ = framework("torch")
    assert bench.op.contract is not None
    if bench.op.contract.mutates:
        raise Skipped("it writes to an argument")
    for call in bench.few_with_elements(3, 10):
        tensors, rebuild = split(torch_.values(call), torch.Tensor)
        if not tensors:
            raise Skipped("it takes no tensors")
        bench.starts(call, " under torch.vmap")

        def program(*given: Any, call: Call = call, rebuild: Any = rebuild) -> Any:
            positional, named = call.arguments(rebuild(given))
            return as_tuple(call.op.function(*positional, **named))

        turned = [tensor.flip(0) if tensor.ndim and tensor.is_floating_point() else tensor for tensor in tensors]
        turned = accepted(program, turned, tensors, torch_)
        try:
            each = [program(*tensors), program(*turned)]
            both = torch.vmap(program)(*(torch.stack(pair) for pair in zip(tensors, turned, strict=True)))
        except Exception as error:
            yield Finding(
                f"expected torch.vmap to work, but it raised {type(error).__name__}: {error}"[:500], call.text()
            )
            return
        expected = [torch_.read(torch.stack(pair)) for pair in zip(*each, strict=True)]
        names = bench.op.outcome_names
        found = compare.difference(
            names, expected, [torch_.read(tensor) for tensor in both], exact=False, bound=4 * error_bound(call)
        )
        if found:
            yield Finding(
                f"expected torch.vmap to give the results of a loop, but {found} (loop, vmap)",
                call.text(),
                "where every tensor has `...`, vmap is one call with one more batch dim: look at how rows are counted",
            )
            return


def export(bench: Bench) -> Iterator[Finding]:
    """torch.export and torch.compile's graphs, against eager."""
    import torch

    torch_ = framework("torch")
    assert bench.op.contract is not None
    for call in bench.few_with_elements(1, 3):
        values = torch_.values(call)
        tensors, rebuild = split(values, torch.Tensor)
        if not tensors:
            raise Skipped("it takes no tensors")
        expected = NUMPY.call(call)

        class Program(torch.nn.Module):
            def forward(self, given: Any, call: Call = call, rebuild: Any = rebuild) -> Any:
                positional, named = call.arguments(rebuild(given))
                return as_tuple(call.op.function(*positional, **named))

        bench.starts(call, " under torch.export")
        try:
            program = torch.export.export(Program(), (tensors,)).module()
            given = [torch_.read(each) for each in program(tensors)]
        except Exception as error:
            text = str(error).strip().splitlines()
            yield Finding(
                f"expected torch.export to work, but it raised {type(error).__name__}: {' '.join(text)[:400]}",
                call.text(),
            )
            return
        names = list_names(call, expected)[: len(given)]
        exact = bench.op.deterministic
        found = compare.difference(names, expected.arrays[: len(given)], given, exact=exact, bound=error_bound(call))
        if found:
            yield Finding(
                f"expected the exported program to give the results of the call, but {found} (eager, exported)",
                call.text(),
            )
            return
