"""An error raised in C++ and caught in Python."""

from __future__ import annotations

from harness import Snippet
from kit import Kit
from report import Row, timed_row

STATEMENT = """
try:
    f(-1)
except ValueError:
    pass
"""


def measure(kit: Kit) -> list[Row]:
    timings = kit.compare(
        {"ours": Snippet(STATEMENT, {"f": kit.ours.fail}), "theirs": Snippet(STATEMENT, {"f": kit.theirs.fail})}
    )
    return [timed_row("errors", "error raised in C++, caught in Python", timings, 0.06)]
