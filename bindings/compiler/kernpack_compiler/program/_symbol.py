"""A tensor of a program that is being traced: known by shape and dtype, without values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import kernpack

    from kernpack_compiler.program._spec import Spec
    from kernpack_compiler.program._trace import Trace


class TraceError(TypeError):
    """A traced function did something that a program cannot express."""


class Symbol:
    """A placeholder for a tensor while a function is traced. Functions of kernpack modules accept it and record a step.

    Operators, `reshape`, `swapaxes` and `T` call the trace's `operators`.
    """

    __kernpack_traced__ = True
    __hash__ = object.__hash__

    def __init__(self, trace: Trace, value: int, spec: Spec, origin: str) -> None:
        self._trace = trace
        self._value = value
        self._spec = spec
        self._origin = origin

    @property
    def shape(self) -> tuple[int | str, ...]:
        return self._spec.shape

    @property
    def dtype(self) -> kernpack.DType:
        return self._spec.dtype

    @property
    def ndim(self) -> int:
        return len(self._spec.shape)

    def __len__(self) -> int:
        if not self.shape or isinstance(self.shape[0], str):
            raise self._no_value("len()")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<symbol {self._spec}, {self._origin}>"

    def __bool__(self) -> NoReturn:
        raise self._error(
            "`if`, `while`, `and` and `or` need a value, and this has none until the program runs; use program.cond(condition, "
            "then, otherwise, *arguments) to decide at run time. Only its shape and dtype are known now"
        )

    def _no_value(self, what: str) -> TraceError:
        return self._error(
            f"{what} needs a value, and this has none until the program runs: return it, and use what run() returns"
        )

    def __int__(self) -> NoReturn:
        raise self._no_value("int()")

    def __float__(self) -> NoReturn:
        raise self._no_value("float()")

    def __index__(self) -> NoReturn:
        raise self._no_value("an index or a number of times")

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise self._error(
            "NumPy can't compute with a symbol, which has no value yet; call functions of kernpack modules on it, or make the NumPy function "
            "a foreign one (program.foreign)"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        """NumPy's functions of each element, its own operators among them, are the trace's operators of that name."""
        if method != "__call__" or options:
            raise self._error(f"NumPy's {ufunc.__name__}, with options, isn't an operator of a program")
        return self._operator(ufunc.__name__, *operands)

    def __iter__(self) -> NoReturn:
        raise self._error("it cannot be iterated over: a program has no views of a tensor's rows")

    def __getitem__(self, index: object) -> NoReturn:
        raise self._error("it cannot be indexed: a program has no views; call a function that copies the part")

    def __setitem__(self, index: object, value: object) -> NoReturn:
        raise self._error(
            "it cannot be written to: a program's values never change; call a function that returns a new one"
        )

    def _error(self, why: str) -> TraceError:
        return TraceError(f"{self._trace.name}: {self._spec} ({self._origin}): {why}")

    def _operator(self, name: str, *arguments: Any) -> Any:
        return self._trace.operator(name)(*arguments)

    def __add__(self, other: Any) -> Any:
        return self._operator("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._operator("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._operator("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._operator("subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._operator("multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._operator("multiply", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._operator("divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._operator("divide", other, self)

    def __matmul__(self, other: Any) -> Any:
        return self._operator("matmul", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._operator("matmul", other, self)

    def __neg__(self) -> Any:
        return self._operator("negative", self)

    def __eq__(self, other: object) -> Any:
        return self._operator("equal", self, other)

    def __ne__(self, other: object) -> Any:
        return self._operator("not_equal", self, other)

    def __lt__(self, other: Any) -> Any:
        return self._operator("less", self, other)

    def __le__(self, other: Any) -> Any:
        return self._operator("less_equal", self, other)

    def __gt__(self, other: Any) -> Any:
        return self._operator("greater", self, other)

    def __ge__(self, other: Any) -> Any:
        return self._operator("greater_equal", self, other)

    def reshape(self, *shape: Any) -> Any:
        """As NumPy's: reshape(2, 3) or reshape((2, 3))."""
        return self._operator("reshape", self, shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)

    def swapaxes(self, first: int, second: int) -> Any:
        return self._operator("swapaxes", self, first, second)

    @property
    def T(self) -> Any:  # noqa: N802
        return self._operator("transpose", self)
