"""Errors of kernels, given back their Python types."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import jax
from kernpack import KernelError, _core

# The text of the handler, "[ValueError] rms_norm: weight: expected ...", after XLA's status and maybe more of XLA's words.
_TAGGED = re.compile(r"^[A-Z_]+: .*?\[([A-Za-z_][A-Za-z0-9_]*)\] (.*)", re.DOTALL)
# A jitted function that ran before lets a ValueError out of its C++ where the first run wraps it in Python.
_REPORTED = (jax.errors.JaxRuntimeError, ValueError)


def exception(kind: str, message: str) -> Exception:
    """The exception that a call on NumPy arrays raises for errors of this kind."""
    found = _core.error_class(kind)
    if found is not None and issubclass(found, Exception):
        return found(message)
    error = KernelError(message)
    error.kind = kind
    return error


@contextlib.contextmanager
def errors() -> Iterator[None]:
    """Inside this context a kernel's error that JAX reports as JaxRuntimeError is raised as TypeError, ValueError, CheckError, ... again.

    Eager calls do it by themselves. Under jax.jit the program, not the kernel's binding, reports errors, so wrap the
    place where the result is awaited: ``with kernpack.jax.errors(): step(x).block_until_ready()``.
    """
    try:
        yield
    except _REPORTED as error:
        kernels = restored(error)
        if kernels is error:
            raise
        raise kernels from None


def restored(error: BaseException) -> BaseException:
    """The kernel's error behind JAX's; any other error as it is."""
    tagged = _TAGGED.search(str(error)) if isinstance(error, _REPORTED) else None
    return error if tagged is None else exception(tagged[1], tagged[2])
