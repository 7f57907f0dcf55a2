"""Calls without tensors: the cost of the call itself."""

from __future__ import annotations

from harness import Snippet
from kit import Kit
from report import Row, timed_row


def measure(kit: Kit) -> list[Row]:
    return [
        _row(kit, "no arguments, GIL released", "f()", kit.ours.nothing, kit.theirs.nothing, 0.4),
        _row(kit, "no arguments, GIL kept", "f()", kit.ours.nothing_quick, kit.theirs_keeping_gil("nothing"), 0.4),
        _row(kit, "three ints, GIL released", "f(1, 2, 3)", kit.ours.three_ints, kit.theirs.three_ints, 0.35),
        _row(
            kit,
            "three ints, GIL kept",
            "f(1, 2, 3)",
            kit.ours.three_ints_quick,
            kit.theirs_keeping_gil("three_ints"),
            0.35,
        ),
        _gil_alone(kit),
        _floor(kit, "no arguments, GIL released", kit.ours.nothing, "nothing_released"),
        _floor(kit, "no arguments, GIL kept", kit.ours.nothing_quick, "nothing"),
    ]


def _row(kit: Kit, name: str, statement: str, ours: object, theirs: object, goal: float) -> Row:
    timings = kit.compare({"ours": Snippet(statement, {"f": ours}), "theirs": Snippet(statement, {"f": theirs})})
    return timed_row("scalars", name, timings, goal)


def _gil_alone(kit: Kit) -> Row:
    """The time that Python itself takes to release the GIL and take it back, measured like our calls."""
    timings = kit.compare(
        {"ours": Snippet("f()", {"f": kit.floor.nothing_released}), "theirs": Snippet("f()", {"f": kit.theirs.nothing})}
    )
    note = "an empty METH_FASTCALL in the place of ours: no call that releases the GIL costs less"
    return timed_row("scalars", "releasing the GIL, and nothing else", timings, note=note)


def _floor(kit: Kit, name: str, ours: object, empty: str) -> Row:
    timings = kit.compare(
        {"ours": Snippet("f()", {"f": ours}), "theirs": Snippet("f()", {"f": getattr(kit.floor, empty)})}
    )
    return timed_row("scalars", name, timings, peer="empty METH_FASTCALL")
