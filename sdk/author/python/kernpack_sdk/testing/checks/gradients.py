"""Declared gradients and tangents against differences of the function's own results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernpack_sdk.testing import compare, derivatives, device, values
from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding, Op, Skipped
from kernpack_sdk.testing.checks import autodiff
from kernpack_sdk.testing.checks.device import FACTOR, of_the_backend
from kernpack_sdk.testing.checks.repeat import error_bound
from kernpack_sdk.testing.frameworks import NUMPY, Framework
from kernpack_sdk.testing.generate import Wish

# By dtype: two steps, relative to an element's size, and what the declared gradient may be off, relative to the largest one.
_STEPS = {"float64": (1e-4, 3e-4, 1e-5), "float32": (1e-2, 3e-2, 2e-2)}
_ELEMENTS = 12  # of each argument, in the quick level


@dataclass(frozen=True)
class _Slope:
    """A derivative from differences: its value, and how far two steps disagree."""

    value: float
    doubt: float


@dataclass(frozen=True)
class _Kind:
    """Gradients or tangents. pairs: forward ops and those that compute them; given: what arrives for a call, None where it fails;
    by_torch, direct: what is declared, as a framework gives it and by calls at a place; differs: from differences of results."""

    what: str
    macro: str
    pairs: list[tuple[str, str]]
    given: Callable[[Bench, Call], Any]
    by_torch: Callable[[Call, Any], Any]
    direct: Callable[[Call, Any, Framework], Any]
    differs: Callable[[Bench, Call, Any, Any], tuple[str, int]]
    advice: str


def gradients(bench: Bench) -> Iterator[Finding]:
    advice = "look at the formula and at what is summed or left out at the sizes of this call"
    functions = (_arriving, autodiff.gradients, derivatives.gradients, _gradient_differs)
    yield from _compared(bench, _Kind("gradient", "KP_GRAD", bench.op.module._gradients, *functions, advice))


def tangents(bench: Bench) -> Iterator[Finding]:
    functions = (_directions, autodiff.tangents, derivatives.tangents, _tangent_differs)
    advice = "look at the formula of the tangent op"
    yield from _compared(bench, _Kind("tangent", "KP_JVP", bench.op.module._jvps, *functions, advice))


def _compared(bench: Bench, kind: _Kind) -> Iterator[Finding]:
    ops = [Op.of(bench.op.module, derived) for forward, derived in kind.pairs if forward == bench.op.name]
    if not ops:
        raise Skipped(f"the module declares no {kind.macro} for it")
    declare, beside = _places(bench, kind, ops)
    compared = 0
    for call in _smooth_calls(bench):
        bench.starts(call, f", its {kind.what}")
        given = kind.given(bench, call)
        if given is None:
            continue
        declared = declare(call, given)
        found, count = (declared, 1) if isinstance(declared, str) else kind.differs(bench, call, declared, given)
        compared += count
        if found:
            yield Finding(
                f"expected the declared {kind.what} to match finite differences of the results, but {found} (declared, from differences)",
                call.text(),
                kind.advice,
            )
            return
        found = _differs_beside(bench, kind, call, given, beside) if beside else ""
        if found:
            yield Finding(
                f"expected the {kind.what} of the CPU, up to rounding, but {found} (CPU, device)",
                call.text(),
                "look at what the forward op saves on the device, results marked `aux` too, and at what the device's code makes of it",
            )
            return
    if not compared:
        raise Skipped("no gradient was large enough for finite differences")


def _places(bench: Bench, kind: _Kind, ops: list[Op]) -> tuple[Callable[[Call, Any], Any], Framework | None]:
    """How declared derivatives are computed: by torch, or by calls on the device of what runs there only. And the device that is to
    compute the CPU's, where all have code for it."""
    there = device.first_device() is not None
    only = next((op for op in (bench.op, *ops) if device.only_there(op)), None)
    if only is None:
        beside = there and all(device.has_code(op) for op in (bench.op, *ops))
        return kind.by_torch, device.OnDevice() if beside else None
    if not there:
        raise Skipped(f"{only.name} runs on {device.KIND} only, and there is no such device; --emulate emulates one")
    on = device.OnDevice()

    def by_calls(call: Call, given: Any) -> Any:
        try:
            return kind.direct(call, given, on)
        except derivatives.Refused as refused:
            return str(refused)

    return by_calls, None


def _differs_beside(bench: Bench, kind: _Kind, call: Call, given: Any, on: Framework) -> str:
    """How the device's derivatives differ from the CPU's. A call that an op itself refuses on the device isn't wrong."""
    bench.starts(call, f", its {kind.what} on the device")
    try:
        expected, found = kind.direct(call, given, NUMPY), kind.direct(call, given, on)
    except derivatives.Refused as refused:
        return str(refused) if of_the_backend(refused.error) else ""
    names = [f"that of {name if isinstance(name, str) else bench.op.outcome_names[name]}" for name in expected]
    bound = FACTOR * error_bound(call)
    return compare.difference(names, list(expected.values()), list(found.values()), exact=False, bound=bound)


def _smooth_calls(bench: Bench) -> Iterator[Call]:
    """In the widest float, of several sizes and with every option."""
    contract = bench.op.contract
    assert contract is not None
    wide = {
        variable: next((name for name in ("f64", "f32") if name in bench.generator.allowed_dtypes(variable)), "")
        for variable in contract.dtype_vars
    }
    dtypes = {variable: name for variable, name in wide.items() if name}
    wishes = [Wish("gradients", floats=style, dtypes=dtypes) for style in ("normal", "positive", "normal")]
    wishes += [Wish("gradients at odd sizes", profile="odd", dtypes=dtypes, batch=(3,), largest=1 << 10)] * 3
    wishes += [Wish("gradients at a size of 67", profile="odd", dtypes=dtypes, largest=1 << 11, batch=(2, 2))]
    for parameter in contract.parameters:
        if parameter.optional:
            wishes += [Wish("gradients", given={parameter.name: given}, dtypes=dtypes) for given in (True, False)]
        for choice in parameter.choices:
            wishes.append(Wish("gradients", scalars={parameter.name: choice}, dtypes=dtypes))
        if parameter.kind == "float" and parameter.has_default:
            wishes.append(Wish("gradients with other numbers", defaults=False, dtypes=dtypes))
            others = [value for value in values.scalars(parameter) if value != parameter.default]
            wishes += [Wish("gradients", scalars={parameter.name: value}, dtypes=dtypes) for value in others[:2]]
    for wish in wishes * (2 if bench.options.full else 1):
        call = bench.accepted(wish)
        if call is not None and all(
            array.dtype.name in (*_STEPS, "complex64", "complex128") or not compare.is_inexact(array.dtype)
            for array in call.arrays()
        ):
            yield call


def _arriving(bench: Bench, call: Call) -> list[np.ndarray] | None:
    """The gradient of each array that the call gives."""
    rng = np.random.default_rng(7)
    base = bench.run(call)
    return None if base.error is not None else [_direction(rng, array) for array in base.arrays]


def _gradient_differs(
    bench: Bench, call: Call, declared: dict[str, np.ndarray], arriving: list[np.ndarray]
) -> tuple[str, int]:
    """How a gradient differs, and how many elements were compared."""
    rng = np.random.default_rng(9)
    count = 0
    for place in autodiff.places(call):
        gradient = declared.get(place)
        if gradient is None or gradient.dtype.name not in _STEPS:
            continue
        step, further, bound = _STEPS[_narrowest(call)]
        if not np.isfinite(gradient).all():
            continue
        scale = float(np.abs(gradient).max()) if gradient.size else 0.0
        for at in _elements(rng, gradient, bench.options.full):
            slope = _slope(bench, call, place, at, arriving, (step, further))
            if slope is None:
                continue
            count += 1
            wrong = abs(float(gradient[at]) - slope.value)
            if wrong > bound * max(scale, abs(slope.value), 0.1) + 4 * slope.doubt:
                return f"that of {place}{list(at)} is {float(gradient[at]):.6g} and {slope.value:.6g}", count
    return "", count


def _narrowest(call: Call) -> str:
    """Of its floats: what comes of several dtypes is as good as the least of them."""
    return "float32" if any(array.dtype.name in ("float32", "complex64") for array in call.arrays()) else "float64"


def _direction(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    return rng.standard_normal(array.shape) if compare.is_inexact(array.dtype) else np.zeros(array.shape)


def _elements(rng: np.random.Generator, array: np.ndarray, full: bool) -> Iterator[tuple[int, ...]]:
    """Some indices: the last ones, where loops end, among them."""
    most = 4 * _ELEMENTS if full else _ELEMENTS
    flat = np.arange(array.size)
    if array.size > most:
        flat = np.unique(
            np.concatenate([rng.choice(array.size, most - 3, replace=False), [0, array.size - 2, array.size - 1]])
        )
    for i in flat:
        yield tuple(int(index) for index in np.unravel_index(i, array.shape))


def _slope(
    bench: Bench, call: Call, place: str, at: tuple[int, ...], arriving: list[np.ndarray], steps: tuple[float, float]
) -> _Slope | None:
    found = []
    for step in steps:
        value = float(autodiff.at_place(call, place)[at])
        size = step * max(1.0, abs(value))
        ends = []
        for sign in (1, -1):
            outcome = bench.run(autodiff.moved(call, place, at, sign * size))
            if outcome.error is not None:
                return None
            pairs = zip(outcome.arrays, arriving, strict=True)
            ends.append(sum(float((a.astype(np.float64) * d).sum()) for a, d in pairs if compare.is_inexact(a.dtype)))
        found.append((ends[0] - ends[1]) / (2 * size))
    if not np.isfinite(found).all():
        return None
    return _Slope(found[0], abs(found[0] - found[1]))


def _directions(bench: Bench, call: Call) -> dict[str, np.ndarray] | None:
    """The tangent of each argument that has one."""
    rng = np.random.default_rng(8)
    arrays = {place: autodiff.at_place(call, place) for place in autodiff.places(call)}
    return {place: rng.standard_normal(array.shape).astype(array.dtype) for place, array in arrays.items()}


def _tangent_differs(
    bench: Bench, call: Call, declared: dict[int, np.ndarray], directions: dict[str, np.ndarray]
) -> tuple[str, int]:
    if bench.run(call).error is not None:
        return "", 0
    results = []
    steps = _STEPS[_narrowest(call)]
    for step in steps[:2]:
        ends = [bench.run(autodiff.along(call, directions, sign * step)) for sign in (1, -1)]
        if any(end.error is not None for end in ends):
            return "", 0
        results.append(
            [
                (a.astype(np.float64) - b) / (2 * step) if compare.is_inexact(a.dtype) else a
                for a, b in zip(ends[0].arrays, ends[1].arrays, strict=True)
            ]
        )
    count = 0
    names = bench.op.outcome_names
    for i, tangent in declared.items():
        slope, doubt = results[0][i], np.abs(results[0][i] - results[1][i])
        if not np.isfinite(slope).all() or not np.isfinite(tangent).all() or not tangent.size:
            continue
        count += tangent.size
        bound = steps[2] * max(float(np.abs(slope).max()), 0.1) + 4 * doubt
        wrong = np.abs(tangent - slope) > bound
        if wrong.any():
            at = tuple(int(index) for index in np.argwhere(wrong)[0])
            return f"that of {names[i]}{list(at)} is {float(tangent[at]):.6g} and {float(slope[at]):.6g}", count
    return "", count
