"""Exception classes that kernels raise beyond Python's own."""

from kernpack import _core


class KernelError(RuntimeError):
    """An error of a kind that Python has no class for. `kind` is the kernel's name of it."""

    kind: str = "KernelError"


class InternalError(RuntimeError):
    """A kernel or the host broke a rule of its own: a bug, not a wrong argument."""


class CheckError(RuntimeError):
    """A kernel broke its contract while calls were checked (`kernpack.checking()`, KERNPACK_CHECK=1)."""


def register_error(kind: str, error: type[BaseException]) -> None:
    """Raises `error(message)` for errors of this kind from now on, in every module."""
    _core.register_error(kind, error)


register_error("", KernelError)
register_error("CheckError", CheckError)
register_error("InternalError", InternalError)
register_error("KernelError", KernelError)
