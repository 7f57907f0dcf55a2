"""@kernel: a plain Python function as a kernel."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, overload

from kernpack_compiler import ir
from kernpack_compiler._build import BuiltModule, build
from kernpack_compiler._wheel import export_wheel
from kernpack_compiler.lang import _plain
from kernpack_compiler.lang._compile import Codes
from kernpack_compiler.lang._contract import get_contract
from kernpack_compiler.lang._refusals import in_words_of_python
from kernpack_compiler.lang._runtime import Runtime
from kernpack_compiler.lang._source import KernelError, Source, is_the_authors

if TYPE_CHECKING:
    from kernpack_compiler._native import TargetSpec

_DEVICES = ("cuda", "opencl")  # kinds of targets that are also names of devices


class Kernel:
    """A kernel that kernel() made of a Python function. Calling it builds it for llvm, or for the device that the first
    tensor is on, and keeps what was built: softmax(x) takes NumPy, torch and JAX arrays.

    func: the function in the IR.
    """

    func: ir.PrimFunc

    def __init__(self, function: FunctionType, grad: Kernel | ir.PrimFunc | None = None) -> None:
        functools.update_wrapper(self, function)
        self.__name__: str = function.__name__
        self.__qualname__: str = function.__qualname__
        source = Source(function)
        self._function = function
        self._contract = get_contract(source)
        self._codes = Codes(source, self._contract)
        self._grad = grad.func if isinstance(grad, Kernel) else grad
        self._grads = grad._functions if isinstance(grad, Kernel) else [] if grad is None else [grad]
        self.func = self._traced()
        self._built: dict[str, Callable[..., Any]] = {}
        self._lock = threading.Lock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        kind = next((kind for kind in map(_device, args) if kind is not None), "llvm")
        function = self._built.get(kind)
        if function is None:
            with self._lock:
                function = self._built.get(kind) or getattr(self.build(kind), self.__name__)
                self._built[kind] = function
        return function(*args, **kwargs)

    def python(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the Python function itself, for pdb: tensors are NumPy arrays whose indices are checked, results are allocated.

        Returns NumPy arrays: one, or a tuple. IndexError for an index out of range, ValueError for an element that is read
        before it is written. Slow.
        """
        given = inspect.signature(self._function).bind(*args, **kwargs)
        given.apply_defaults()
        return _plain.run(self._function, self._contract, given.arguments)

    @property
    def module(self) -> ir.IRModule:
        """The kernel, and its gradient, as a module of the IR."""
        return ir.IRModule(self._functions, self.__name__)

    def build(self, target: TargetSpec = "llvm", *, checked: bool = False) -> BuiltModule:
        """Compiles it: kernpack_compiler.build(kernel.module, target). KernelError for what the verifier finds in the source."""
        try:
            return build(self.module, target, checked=checked)
        except Exception as error:
            placed = self._codes.files.translate(str(error))
            if placed is None:
                raise
            raise placed from error

    def wheel(
        self,
        name: str,
        version: str,
        targets: Sequence[TargetSpec] = ("llvm",),
        *,
        folder: str | os.PathLike[str] = "dist",
        summary: str | None = None,
    ) -> Path:
        """Builds it for the targets, writes a wheel to a folder, and returns its path. The first line of the function's docstring
        is the summary. Errors as of build() and export_wheel().
        """
        if isinstance(targets, str) or not targets:
            raise ValueError(
                f'{self.__name__}.wheel: targets: expected a list such as ["llvm", "cuda"], got {targets!r}'
            )
        said = summary or (self.__doc__ or "").strip().partition("\n")[0] or "A kernel that Kernpack generated"
        return export_wheel([self.build(target) for target in targets], folder, name, version, summary=said)

    @property
    def _functions(self) -> list[ir.PrimFunc]:
        return [self.func, *self._grads]

    def _traced(self) -> ir.PrimFunc:
        """Runs the rewritten function. A second time where types of variables that branches create had to be found first."""
        cells: list[str] = []
        while True:
            recorder = _Recorder(self, cells)
            try:
                with _undebugged():
                    made = self._codes.begin(recorder)
            except KernelError as error:
                raise self._codes.files.called_from(error) from None
            except Exception as error:
                placed = self._codes.files.place(error, self._said(error))
                if placed is None:
                    raise
                raise placed from error
            found = [cell.dtype or "i64" for cell in recorder.declared]
            if found == cells:
                return made
            cells = found

    def _said(self, error: Exception) -> str:
        if isinstance(error, NameError) and is_the_authors(error):
            name = error.name or str(error)
            known = ", ".join([*(p.name for p in self._contract.all), *self._contract.dims])
            return (
                f"`{name}` isn't defined: the contract has {known}, and other names need a value before the kernel is made "
                "(helpers stand above it)"
            )
        return in_words_of_python(re.sub(r"^.*?, line \d+(, column \d+)?: ", "", str(error)))

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}{self._contract.header}>"

    def __reduce__(self) -> str:
        return self.__qualname__


class _Recorder(Runtime):
    """The runtime of one run."""

    def __init__(self, kernel: Kernel, cells: list[str]) -> None:
        contract = kernel._contract
        inputs = frozenset(p.name for p in contract.parameters if p.role == "input")
        super().__init__(contract.float_type, inputs, kernel._codes.helper, cells)
        self._kernel = kernel
        self._inlining.append(kernel._function)

    def begin(self) -> ir.PrimFunc:
        kernel = self._kernel
        contract = kernel._contract
        make = ir.func(contract.header, name=kernel.__name__, signature=contract.signature, grad=kernel._grad or "")
        return make(kernel._codes.kernel(self))


@contextlib.contextmanager
def _undebugged() -> Iterator[None]:
    """A breakpoint in a kernel is for its run as plain Python, not for this run."""
    trace = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(trace)


def _device(argument: Any) -> str | None:
    """The kind of device that a tensor of torch or Kernpack is on; None: the CPU, or not known."""
    if type(argument).__module__.partition(".")[0] not in ("torch", "kernpack"):
        return None
    kind = getattr(getattr(argument, "device", None), "type", None)
    return kind if kind in _DEVICES else None


@overload
def kernel(function: Callable[..., Any], /) -> Kernel: ...
@overload
def kernel(*, grad: Kernel | ir.PrimFunc | None = None) -> Callable[[Callable[..., Any]], Kernel]: ...
def kernel(
    function: Callable[..., Any] | None = None, /, *, grad: Kernel | ir.PrimFunc | None = None
) -> Kernel | Callable[[Callable[..., Any]], Kernel]:
    """Makes a kernel of a plain Python function: `@kernel` above it.

        @kernel
        def scale(x: f32["N", "D"], factor: f32 = 2.0) -> f32["N", "D"]:
            for i in range(N):
                for j in range(D):
                    out[i, j] = x[i, j] * factor

    The annotations are the contract. In the body its dims (N, D) and results (out, or the names of `-> {"values": ...}`) are
    variables. Other names have the values that they have now: of the module, and of functions around it.

    grad: the kernel that computes the gradient: (d_out, ..., x, ...) -> {"d_x": ...}.

    KernelError, which underlines the source, for what a kernel can't have.
    """
    if function is None:
        return lambda given: _made(given, grad)
    return _made(function, grad)


def _made(function: Any, grad: Kernel | ir.PrimFunc | None) -> Kernel:
    if isinstance(function, Kernel):
        raise TypeError(f"kernel: {function.__name__} is a kernel already")
    if not inspect.isfunction(function):
        raise TypeError(f"kernel: expected a function written with `def`, got {type(function).__name__}")
    if grad is not None and not isinstance(grad, Kernel | ir.PrimFunc):
        raise TypeError(f"kernel: grad: expected the kernel of the gradient, got {type(grad).__name__}")
    return Kernel(function, grad)
