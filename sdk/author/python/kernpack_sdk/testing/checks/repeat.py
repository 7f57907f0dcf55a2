"""The results of a call depend on its arguments alone: not on earlier calls, nor on the address or the old content of its memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kernpack_sdk.testing import compare
from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding, Skipped
from kernpack_sdk.testing.frameworks import NUMPY, Outcome, at_offset, list_names

NO_DESTINATIONS = "a parameter of the function is called out, so it takes no destinations"


def differs(bench: Bench, call: Call, a: Outcome, b: Outcome, factor: float = 1.0, exact: bool | None = None) -> str:
    """How two outcomes of the call differ: to the bit where the contract says deterministic."""
    if a.error is not None or b.error is not None:
        return "" if bool(a.error) == bool(b.error) else f"one call gave results, the other {a.refusal or b.refusal}"
    exact = bench.op.deterministic if exact is None else exact
    return compare.difference(list_names(call, a), a.arrays, b.arrays, exact=exact, bound=factor * error_bound(call))


def error_bound(call: Call) -> float:
    """How far equal results may be apart: a result of a wide dtype may have been computed from, and in, a narrower one."""
    return max(
        (compare.tolerance(array.dtype) for array in call.arrays() if compare.is_inexact(array.dtype)), default=0.0
    )


def how_equal(bench: Bench) -> str:
    return "the same bits (deterministic)" if bench.op.deterministic else "the same results up to rounding"


def repeat(bench: Bench) -> Iterator[Finding]:
    """Equal calls, one after the other, in the same memory."""
    for call in bench.calls:
        values = NUMPY.values(call)
        plain = bench.run(call, values)
        into = _filled_like(plain.arrays[: len(plain.arrays) - _mutated_count(call)], 0)
        if plain.error is not None:
            continue
        outcomes = []
        for _ in range(4 if bench.options.full else 3):
            fill(values, call.values)
            outcomes.append(_again(bench, call, values, into))
        for other in outcomes[1:]:
            found = differs(bench, call, outcomes[0], other)
            if found:
                advice = "take `deterministic` out of the contract, or " if bench.op.deterministic else ""
                yield Finding(
                    f"expected {how_equal(bench)} of two equal calls, but {found}",
                    call.text(),
                    f"{advice}look for static variables, random numbers, memory read before it is written, and races",
                )
                return


def _again(bench: Bench, call: Call, values: dict[str, Any], into: tuple[np.ndarray, ...]) -> Outcome:
    """Into the same destinations, which hold the same before, where the function takes any."""
    if bench.op.contract is None or not into or not bench.op.contract.takes_destinations:
        return _copied(bench.run(call, values))
    for array in into:
        array[...] = 0
    return _copied(bench.run(call, values, out=into if len(into) > 1 else into[0]))


def state(bench: Bench) -> Iterator[Finding]:
    """The same memory with other contents, then with the first ones again. Destinations are the same ones, too."""
    for call in [each for each in bench.calls if any(array.size > 1 for array in each.arrays())]:
        buffers = NUMPY.values(call)
        plain = bench.run(call)
        if plain.error is not None:
            continue
        into = _filled_like(plain.arrays[: len(plain.arrays) - _mutated_count(call)], 0)
        first = _again(bench, call, buffers, into)
        for name, keep in (("other values", 0), ("the same first elements and other elements after them", 1)):
            other = with_other_values(call, keep)
            expected = _again(bench, other, NUMPY.values(other), into)
            fill(buffers, other.values)
            found = differs(bench, call, expected, _again(bench, other, buffers, into))
            if found:
                yield Finding(
                    f"expected the results of what the tensors hold now, but after a call with {name} in the same memory {found} "
                    "(from fresh memory, from that memory)",
                    call.text(),
                    "don't keep results by address, shape or first values: nothing tells a kernel that memory has changed",
                )
                return
        fill(buffers, call.values)
        found = differs(bench, call, first, _again(bench, call, buffers, into))
        if found:
            text = f"expected {how_equal(bench)} as before other calls of the same shapes, but {found}"
            yield Finding(text, call.text(), "look for what the kernel keeps from call to call")
            return


def _copied(outcome: Outcome) -> Outcome:
    return Outcome(tuple(array.copy() for array in outcome.arrays), outcome.error)


def with_other_values(call: Call, keep: int) -> Call:
    """The call with the floats of each tensor in another order and smaller; the first `keep` stay."""

    def moved(value: Any) -> Any:
        if isinstance(value, list):
            return [moved(item) for item in value]
        if not isinstance(value, np.ndarray) or not compare.is_inexact(value.dtype):
            return value
        flat = value.reshape(-1).copy()
        flat[keep:] = (flat[keep:][::-1].astype(np.complex128 if flat.dtype.kind == "c" else np.float64) * 0.75).astype(
            flat.dtype
        )
        return flat.reshape(value.shape)

    return call.replaced(**{name: moved(value) for name, value in call.values.items()})


def _put(buffer: np.ndarray, item: np.ndarray) -> None:
    buffer[...] = item


def fill(buffers: dict[str, Any], values: dict[str, Any], put: Callable[[Any, np.ndarray], None] = _put) -> None:
    """Fills the tensors of a call, by `put`."""
    for name, value in values.items():
        pairs = zip(buffers[name], value, strict=True) if isinstance(value, list) else [(buffers[name], value)]
        for buffer, item in pairs:
            if isinstance(item, np.ndarray):
                put(buffer, item)


def kept(bench: Bench) -> Iterator[Finding]:
    """Results are the caller's: later calls don't change them, and they share memory with nothing."""
    for call in bench.calls:
        values = NUMPY.values(call)
        outcome = bench.run(call, values)
        if outcome.error is not None:
            continue
        names = list_names(call, outcome)
        count = len(outcome.arrays) - _mutated_count(call)
        results = list(zip(names[:count], outcome.arrays[:count], strict=True))
        given = [item for value in values.values() for item in (value if isinstance(value, list) else [value])]
        for i, (name, array) in enumerate(results):
            others = [other for _, other in results[:i]] + [item for item in given if isinstance(item, np.ndarray)]
            if any(np.may_share_memory(array, other) and np.shares_memory(array, other) for other in others):
                yield Finding(
                    f"expected {name} to have memory of its own, but it lies in an argument or another result",
                    call.text(),
                    "write to the results that the kernel is given, or return a new tensor",
                )
                return
        before = [array.copy() for _, array in results]
        for _ in range(3):
            bench.run(with_other_values(call, 0))
        for (name, array), old in zip(results, before, strict=True):
            if compare.differing(array, old, exact=True).any():
                yield Finding(
                    f"expected {name} not to change, but a later call changed it",
                    call.text(),
                    "don't return or keep memory that the next call uses again",
                )
                return


def _mutated_count(call: Call) -> int:
    contract = call.op.contract
    if contract is None:
        return 0
    given = [call.values[each.name] for each in contract.parameters if each.mutated]
    return sum(len(value) if isinstance(value, list) else value is not None for value in given)


# Bytes that fill a destination: zeros; NaNs, -1 and True; large numbers. With each, where in a cache line it starts: allocators give
# multiples of 16, and all four are tried, so that what a kernel makes of an address is found each time and not by chance.
_GARBAGE = ((0x00, 0), (0xFF, 16), (0x5A, 32), (0x00, 48))


def garbage(bench: Bench) -> Iterator[Finding]:
    """Destinations (`out=`) that hold other things before the call and start at other places of a cache line."""
    if bench.op.contract is not None and not bench.op.contract.takes_destinations:
        raise Skipped(NO_DESTINATIONS)
    for call in bench.calls:
        expected = bench.run(call)
        count = len(expected.arrays) - _mutated_count(call)
        if expected.error is not None or not count or not any(array.size for array in expected.arrays[:count]):
            continue
        for pattern, offset in _GARBAGE:
            into = _filled_like(expected.arrays[:count], pattern, offset)
            given = bench.run(call, None, out=into if len(into) > 1 else into[0])
            if given.error is not None:
                break
            found = differs(bench, call, expected, given)
            if found:
                yield Finding(
                    f"expected the same results wherever they are written and whatever was there, but {found} "
                    f"(from fresh memory, from memory full of bytes {pattern:#04x} that starts {offset} bytes after a multiple of 64)",
                    call.text(),
                    "results come unset and at any address: write every element, and don't add to what is there",
                )
                return


def _filled_like(arrays: tuple[np.ndarray, ...], pattern: int, offset: int = 0) -> tuple[np.ndarray, ...]:
    return tuple(_filled(array, pattern, offset) for array in arrays)


def _filled(like: np.ndarray, pattern: int, offset: int) -> np.ndarray:
    made = at_offset(like, offset)
    made.reshape(-1).view(np.uint8)[...] = pattern & 1 if like.dtype.kind == "b" else pattern
    return made
