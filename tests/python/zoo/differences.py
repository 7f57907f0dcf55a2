"""Runs the checks on a model, plain, patched and unpatched, and says what differs and by how much."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import checks
import kernpack_kernels.torch as kt
import torch
from tiny_models import Tiny

# In parts of the largest number of a tensor, or, of a gradient, of the largest of all gradients if that's much larger.
FORWARD = 1e-4
GRADIENT = 1e-3
SMALL_GRADIENT = 1e-3  # below this part of the largest one, what is left is rounding
ROUNDED = 0.02  # autocast: beside that, twice the plain model's own error is allowed


@dataclass
class Report:
    """The outcome of one architecture."""

    patched: list[str]  # what the table of patch() says is replaced
    passed: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # with the reason
    failed: list[str] = field(default_factory=list)


Result = checks.Tensors | Exception


def _run(check: Callable[[Tiny], checks.Tensors], of: Tiny) -> Result:
    try:
        return check(of)
    except Exception as error:  # the plain model may raise; then the patched one may, too
        return error


def compare(of: Tiny) -> Report:
    plain = {check.__name__: _run(check, of) for check in checks.COMPARED}
    before = _state(of.model)
    table = kt.patch(of.model)
    report = Report(sorted({row.by for row in table.rows if row.by}))
    exact = plain["forward"]
    for check in checks.COMPARED:
        _note(report, check.__name__, plain[check.__name__], _run(check, of), exact)
    traced = {check: _run(check, of) for check in checks.TRACED}
    kt.unpatch(of.model)
    for check, found in traced.items():
        _note(report, check.__name__, _traced_plain(check, of, found, exact), found, exact)
    _note(report, "unpatched", exact, _run(checks.forward, of), exact, tolerance=0.0)
    if _state(of.model) != before:
        report.failed.append("unpatched: the model isn't what it was: " + _differing(before, _state(of.model)))
    return report


def _traced_plain(check: Callable[[Tiny], checks.Tensors], of: Tiny, found: Result, exact: Result) -> Result:
    """The expected result of a traced model: the plain model's own forward, unless the plain model's trace raises or gives other numbers too, as
    FSMT's does under torch.compile."""
    if isinstance(found, Exception):
        return _run(check, of)
    if isinstance(exact, Exception) or not any(compare_tensors(check.__name__, exact, found, exact)):
        return exact
    plain = _run(check, of)
    return exact if isinstance(plain, Exception) else plain


def _note(
    report: Report, name: str, plain: Result, found: Result, exact: Result, tolerance: float | None = None
) -> None:
    if isinstance(plain, Exception):
        report.left_out.append(f"{name}: {_said(plain)}")
    elif isinstance(found, Exception):
        report.failed.append(f"{name}: raises {_said(found)}")
    elif differences := list(compare_tensors(name, plain, found, exact, tolerance)):
        worst = max(differences)
        report.failed.append(f"{name}: {worst[1]} ({len(differences)} of {len(plain)} tensors differ)")
    else:
        report.passed.append(name)


def _said(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:150]}"


def compare_tensors(
    name: str, plain: checks.Tensors, found: checks.Tensors, exact: Result, tolerance: float | None = None
) -> Iterator[tuple[float, str]]:
    """How far, and what, of each tensor that is too far from the plain model's."""
    if plain.keys() != found.keys():
        yield float("inf"), f"other tensors: {', '.join(sorted(plain.keys() ^ found.keys()))}"
        return
    gradients = [x for key, x in plain.items() if key.startswith("gradient")]
    largest = max(map(_largest, gradients), default=0.0)
    for key, expected in plain.items():
        if not expected.is_floating_point():
            if not torch.equal(expected, found[key]):
                yield float("inf"), f"other {key}"
            continue
        of_gradient = key.startswith("gradient")
        scale = max(_largest(expected), largest * SMALL_GRADIENT if of_gradient else 0.0, 1e-30)
        far = _distance(found[key], expected) / scale
        most = (GRADIENT if of_gradient else FORWARD) if tolerance is None else tolerance
        if name == "autocast" and not isinstance(exact, Exception):
            far, own = _distance(found[key], exact[key]) / scale, _distance(expected, exact[key]) / scale
            most = 2 * own + ROUNDED
        if not far <= most:
            yield far, f"{key} is {far:.1e} of its largest number off, allowed are {most:.1e}"


def _largest(x: torch.Tensor) -> float:
    return float(x.abs().max()) if x.numel() else 0.0


def _distance(a: torch.Tensor, b: torch.Tensor) -> float:
    if a.shape != b.shape:
        return float("inf")
    same = (a == b) | (a.isnan() & b.isnan())
    return float((a.double() - b.double()).abs().masked_fill(same, 0.0).max()) if a.numel() else 0.0


def _state(model: Any) -> dict[str, Any]:
    """State that patch() changes and unpatch() must restore."""
    state: dict[str, Any] = {"config": copy.deepcopy(model.config.to_dict())}
    for name, config in _configs(model.config):
        state[f"attention of {name}"] = config._attn_implementation
    for name, module in model.named_modules():
        state[f"class of {name or 'the model'}"] = type(module).__qualname__
        for key in module.__dict__:
            state[f"{name or 'the model'}.{key}"] = "is there"
        for key, parameter in module._parameters.items():
            state[f"{name or 'the model'}.{key}"] = id(parameter)
    return state


def _configs(config: Any) -> list[tuple[str, Any]]:
    parts = [(key, getattr(config, key, None)) for key in getattr(config, "sub_configs", {})]
    return [("config", config), *((key, part) for key, part in parts if part is not None)]


def _differing(before: dict[str, Any], after: dict[str, Any]) -> str:
    return ", ".join(key for key in {**before, **after} if before.get(key) != after.get(key))
