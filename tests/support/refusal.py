"""Checks that a call is refused as it should be: the exception, its words, and nothing left behind."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence

import pytest

# Below an error about an argument's dtype.
CONVERT = "\n    convert it first (NumPy and JAX: x.astype(dtype), torch: x.to(dtype))"
LONGEST = 700  # characters: a message is read, whatever was passed


def refused(
    call: Callable[[], object], kind: type[BaseException], message: str, *, watch: Sequence[object] = ()
) -> BaseException:
    """`call` raises exactly `kind` with exactly this message, again and again, and leaves no object and no reference.

    A message that ends in "..." is a beginning. watch: objects whose reference counts must come back.
    """
    from kernpack import _core

    def once() -> BaseException:
        with pytest.raises(kind) as caught:
            call()
        assert type(caught.value) is kind, repr(caught.value)
        return caught.value

    error = once()
    text = str(error)
    if message.endswith("..."):
        assert text.startswith(message[:-3]), text
    else:
        assert text == message
    assert len(text) <= LONGEST
    error.__traceback__ = error.__context__ = error.__cause__ = None

    def held() -> list[int]:
        return [_core.live_objects(), *(sys.getrefcount(thing) for thing in watch)]

    before = held()
    for _ in range(5):
        once()
    if held() != before:  # cycles of tracebacks; collecting is slow where frameworks are loaded, so only now
        gc.collect()
        assert all(now <= then for now, then in zip(held(), before, strict=True)), "host objects or references leak"
    return error
