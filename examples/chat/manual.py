"""Text to read: the manual of this repository."""

from __future__ import annotations

from pathlib import Path

from tokens import Tokens

MANUAL = Path(__file__).resolve().parents[2] / "docs"


def manual(tokens: Tokens, count: int) -> list[int]:
    """At least `count` tokens of the manual, or all of it."""
    text: list[int] = []
    for page in sorted(MANUAL.glob("*.md")):
        if len(text) < count:
            text += tokens.encode(page.read_text(encoding="utf-8"))
    return text
