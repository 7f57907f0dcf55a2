"""`kernpack bench`: two functions timed in turns, so that what slows the machine down slows both."""

from __future__ import annotations

import gc
import importlib.util
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SMALLEST = 200e-6  # seconds per sample: the clock's steps and the loop's own time are little of it


@dataclass(frozen=True)
class Row:
    """Times in seconds per call; `ratio`: how many times as fast as the reference, by the median of the pairs."""

    case: str
    median: float
    spread: float  # half the distance between the quartiles
    reference: float | None
    ratio: float | None
    samples: int


def load_cases(file: Path) -> Iterator[tuple[str, Callable[..., Any], Callable[..., Any] | None, tuple[Any, ...]]]:
    """The cases that cases() of the file yields. ValueError if one has an unexpected form."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise ValueError(f"{file}: expected a Python file with a function cases()")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not callable(getattr(module, "cases", None)):
        raise ValueError(f"{file}: has no function cases(); it yields (name, function, reference or None, arguments)")
    for row in module.cases():
        if not isinstance(row, tuple) or len(row) != 4 or not callable(row[1]) or not isinstance(row[3], tuple):
            raise ValueError(
                f"{file}: cases(): expected (name, function, reference or None, arguments), got {row!r:.80}"
            )
        yield row


def measure(name: str, function: Any, reference: Any, arguments: tuple[Any, ...], seconds: float) -> Row:
    """Pairs of samples, one of each function, in alternating order, for so many seconds."""
    functions = [function] if reference is None else [function, reference]
    counts = [calls_per_sample(each, arguments) for each in functions]
    found: list[list[float]] = [[] for _ in functions]
    end = time.perf_counter() + seconds
    order = list(range(len(functions)))
    gc_was_on = gc.isenabled()
    gc.disable()
    try:
        while len(found[0]) < 5 or time.perf_counter() < end:
            for i in order:
                found[i].append(sample(functions[i], arguments, counts[i]))
            order.reverse()
    finally:
        if gc_was_on:
            gc.enable()
    low, _, high = statistics.quantiles(found[0], n=4)
    row = (name, statistics.median(found[0]), (high - low) / 2)
    if reference is None:
        return Row(*row, None, None, len(found[0]))
    ratio = statistics.median(theirs / own for own, theirs in zip(*found, strict=True))
    return Row(*row, statistics.median(found[1]), ratio, len(found[0]))


def fastest(functions: Sequence[Any], arguments: tuple[Any, ...], seconds: float) -> list[float]:
    """Of each function the shortest sample, taken in turns for so many seconds: other programs slow it down least."""
    counts = [calls_per_sample(each, arguments) for each in functions]
    found = [float("inf")] * len(functions)
    end = time.perf_counter() + seconds
    while True:
        for i, function in enumerate(functions):
            found[i] = min(found[i], sample(function, arguments, counts[i]))
        if time.perf_counter() >= end:
            return found


def calls_per_sample(function: Any, arguments: tuple[Any, ...]) -> int:
    calls = 1
    while (taken := sample(function, arguments, calls) * calls) < _SMALLEST:
        calls = max(2 * calls, int(calls * _SMALLEST / max(taken, 1e-9)))
    return calls


def sample(function: Any, arguments: tuple[Any, ...], calls: int) -> float:
    result = None
    begin = time.perf_counter()
    for _ in range(calls):
        result = function(*arguments)
    _wait(arguments if result is None else result)  # a function without a result writes to an argument
    return (time.perf_counter() - begin) / calls


def in_units(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _wait(result: Any) -> None:
    """Until what was queued is done, where a framework or a device queues."""
    if isinstance(result, tuple):
        for each in result:
            _wait(each)
    elif hasattr(result, "block_until_ready"):
        result.block_until_ready()
    elif getattr(result, "is_cuda", False):
        import torch

        torch.cuda.synchronize(result.device)
    elif _is_of_a_device(result):
        sys.modules["kernpack"].current_stream(result.device).sync()


def _is_of_a_device(result: Any) -> bool:
    """True for Kernpack's tensors that aren't in the processor's memory."""
    kernpack = sys.modules.get("kernpack")
    return kernpack is not None and isinstance(result, kernpack.Tensor) and result.device.type != "cpu"
