"""The suggestion in an error about an unknown name."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], form: str = "; {}") -> str:
    """ "; did you mean 'scale'?", or "" when nothing known is near."""
    import difflib  # on the way to an error alone

    close = difflib.get_close_matches(name, known, 1)
    return form.format(f"did you mean '{close[0]}'?") if close else ""
