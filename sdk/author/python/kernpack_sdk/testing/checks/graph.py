"""Checks the promise of `graph_safe`: calls can be captured in a CUDA graph, which is run again after its tensors have changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import kernpack
import numpy as np

from kernpack_sdk.testing import device
from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding, Skipped
from kernpack_sdk.testing.checks.repeat import NO_DESTINATIONS, differs, fill, with_other_values
from kernpack_sdk.testing.frameworks import Outcome, as_tuple, mutated

_CALLS = 4  # in the quick level
_ADVICE = "take `graph_safe` out of the contract, or "


def graph(bench: Bench) -> Iterator[Finding]:
    """A graph of each call, run with the call's values and with other values, gives the results of calls."""
    if bench.op.contract is None or not bench.op.contract.graph_safe:
        raise Skipped("the contract doesn't say graph_safe")
    if not bench.op.contract.takes_destinations:
        raise Skipped(NO_DESTINATIONS)
    if not os.environ.get("KERNPACK_EMULATOR"):
        raise Skipped("calls are captured on an emulated device only; --emulate emulates one")
    on = device.OnDevice()
    compared = 0
    for call in bench.calls if bench.options.full else bench.calls[:_CALLS]:
        bench.starts(call, " in a graph")
        calls = (call, with_other_values(call, 0))
        expected = [on.call(each) for each in calls]
        if any(outcome.error is not None for outcome in expected):
            continue
        finding = _compared(bench, on, calls, expected)
        if finding is not None:
            yield finding
            return
        compared += 1
    if not compared:
        raise Skipped("the device refused every call")


def _compared(bench: Bench, on: device.OnDevice, calls: tuple[Call, ...], expected: list[Outcome]) -> Finding | None:
    import kernpack_cuda_emulator as emulator

    call, contract = calls[0], bench.op.contract
    assert contract is not None
    values = on.values(call)
    positional, named = call.arguments(values)
    stream, others = kernpack.Stream(device.first_device()), kernpack.current_stream(device.first_device())
    others.sync()  # on which tensors are made and read
    results: tuple[Any, ...] = ()
    try:
        with kernpack.stream(stream):
            if contract.returned:
                # All results, those marked aux too: what a call allocates by itself doesn't outlive it, and a graph does.
                results = as_tuple(call.op.function(*positional, **named, out=(None,) * len(contract.results)))
                named["out"] = results if len(results) > 1 else results[0]
            call.op.function(*positional, **named)
            stream.sync()
            with emulator.captured(stream) as kept:
                call.op.function(*positional, **named)
    except Exception as error:  # whatever a kernel or the driver may raise
        device.raise_if_lost(str(error), call)
        text = f"expected the call to be captured in a graph, but {type(error).__name__}: {error}"
        return Finding(text, call.text(), _ADVICE + "don't wait for the device in the call")
    returned = [results[i] for i in contract.returned]
    for each, wanted in zip(calls, expected, strict=True):
        fill(values, each.values, lambda buffer, item: buffer.copy_(on.make(item)))
        for result in results:
            result.copy_(on.make(np.zeros_like(on.read(result))))
        others.sync()
        try:
            kept.launch()
            stream.sync()
        except Exception as error:  # whatever the driver may say
            device.raise_if_lost(str(error), each)
            raise
        found = Outcome(tuple(map(on.read, (*returned, *mutated(call, values)))))
        text = differs(bench, each, wanted, found)
        if text:
            what = "the same values" if each is call else "other values in its tensors"
            return Finding(
                f"expected a graph of the call, run with {what}, to give the results of a call, but {text} (call, graph)",
                call.text(),
                _ADVICE + "look for what the host reads of tensors, or keeps from call to call",
            )
    return None
