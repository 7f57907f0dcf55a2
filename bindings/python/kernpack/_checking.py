"""The checking mode, for a part of a program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kernpack import _core


@contextmanager
def checking(*, trace: bool = True) -> Iterator[None]:
    """Checks what kernels do to their arguments, results and scratch memory; raises `kernpack.CheckError` for an error.

        with kernpack.checking():
            k.my_op(x)

    It applies to the whole process, all threads, until the last such block ends. `trace`: print each call to stderr before
    its kernel runs. KERNPACK_CHECK=1 in the environment is one such block around the whole program,
    KERNPACK_CHECK=quiet one without `trace`.
    """
    _core.checking(True, trace)
    try:
        yield
    finally:
        _core.checking(False, trace)
