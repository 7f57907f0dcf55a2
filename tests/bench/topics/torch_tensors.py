"""Calls with PyTorch CPU tensors."""

from __future__ import annotations

import torch
from harness import Snippet
from kit import Kit
from report import Row, timed_row


def _tensors() -> dict[str, object]:
    return {"a": torch.ones(4, 8), "b": torch.ones(4, 8), "c": torch.ones(8)}


def measure(kit: Kit) -> list[Row]:
    return [
        _three(kit, "three torch tensors, no signature", kit.ours.three_tensors, kit.theirs.three_tensors, 0.65),
        _three(kit, "three torch tensors, full signature", kit.ours.three_checked, kit.theirs.three_checked, 0.85),
        _written(kit),
        _parameters(kit),
        _new_result(kit),
    ]


def _three(kit: Kit, name: str, ours: object, theirs: object, goal: float) -> Row:
    tensors = _tensors()
    timings = kit.compare(
        {"ours": Snippet("f(a, b, c)", tensors | {"f": ours}), "theirs": Snippet("f(a, b, c)", tensors | {"f": theirs})}
    )
    return timed_row("torch", name, timings, goal)


def _written(kit: Kit) -> Row:
    timings = kit.compare(
        {
            "ours": Snippet("f(a, b, c)", _tensors() | {"f": kit.ours.three_written}),
            "theirs": Snippet("f(a, b, c)", _tensors() | {"f": kit.ours.three_checked}),
        }
    )
    return timed_row("torch", "three torch tensors, all written", timings, 1.3, peer="ours, three read")


def _parameters(kit: Kit) -> Row:
    plain = _tensors()
    parameters = {name: torch.nn.Parameter(tensor) for name, tensor in plain.items()}
    f = {"f": kit.ours.three_checked}
    with torch.no_grad():
        timings = kit.compare(
            {"ours": Snippet("f(a, b, c)", parameters | f), "theirs": Snippet("f(a, b, c)", plain | f)}
        )
    return timed_row("torch", "three Parameters under no_grad", timings, 1.1, peer="ours, three plain tensors")


def _new_result(kit: Kit) -> Row:
    x = torch.ones(4, 8)
    for f in (kit.ours.new_like, kit.theirs.new_like):
        assert isinstance(f(x), torch.Tensor)
    timings = kit.compare(
        {
            "ours": Snippet("f(x)", {"f": kit.ours.new_like, "x": x}),
            "theirs": Snippet("f(x)", {"f": kit.theirs.new_like, "x": x}),
        }
    )
    return timed_row("torch", "torch in, new torch result out", timings, 0.6)
