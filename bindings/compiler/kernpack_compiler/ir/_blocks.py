"""Loops, branches and launches: `with` opens a block, and its end records the statement."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Generic, Literal, NoReturn, TypeAlias, TypeVar

from kernpack_compiler._native import ir as _ir

Number: TypeAlias = "_ir.Expr | int"
_NAMES = "ijklmnopqrstuvwxyz"  # of counters, outermost first
_T = TypeVar("_T")


class Block(Generic[_T]):
    """A block of statements; `with` returns the variables of its body. Can be used once."""

    def __init__(self, inside: _T) -> None:
        self._inside = inside

    def __iter__(self) -> NoReturn:
        raise TypeError(
            f"{_ir.author_place()}a block is opened by `with`, as in `with ir.serial(n) as i:`, not by `for`"
        )

    def __enter__(self) -> _T:
        _ir.open_block()
        return self._inside

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        body = _ir.close_block()
        if kind is None:
            self._record(body)

    def _record(self, body: _ir.Body) -> None:
        raise NotImplementedError


class _Loop(Block[_ir.Expr]):
    def __init__(
        self, kind: str, first: Number, second: Number | None, name: str | None, lanes: int = 0, masked: bool = False
    ) -> None:
        begin, end = (0, first) if second is None else (first, second)
        self._range = begin, end
        self._kind, self._lanes, self._masked = kind, lanes, masked
        super().__init__(counter(begin, end, name))

    def _record(self, body: _ir.Body) -> None:
        _ir.record_for(self._inside, *self._range, body, self._kind, self._lanes, self._masked)


def counter(begin: Number, end: Number, name: str | None) -> _ir.Expr:
    """A variable that counts from begin to end - 1, in the type of the one that has a type."""
    typed = [bound.type for bound in (begin, end) if isinstance(bound, _ir.Expr)]
    return _ir.variable(name or _NAMES[(_ir.depth() - 1) % len(_NAMES)], typed[0] if typed else _ir.i64)


def serial(first: Number, second: Number | None = None, /, *, name: str | None = None) -> Block[_ir.Expr]:
    """`with serial(n) as i` or `serial(begin, end)`: iterations in order, like Python's range."""
    return _Loop("for", first, second, name)


def parallel(
    first: Number, second: Number | None = None, /, *, grain: int = 0, name: str | None = None
) -> Block[_ir.Expr]:
    """Iterations that may run concurrently, on several threads. The verifier must prove them independent.

    grain: the least iterations per thread; 0: the generator decides.
    """
    return _Loop("parallel", first, second, name, lanes=grain)


def vectorized(
    first: Number,
    second: Number | None = None,
    /,
    *,
    lanes: int,
    tail: Literal["peeled", "masked"] = "peeled",
    name: str | None = None,
) -> Block[_ir.Expr]:
    """`lanes` iterations at once. tail: the remainder runs one by one (peeled), or as one masked step."""
    if tail not in ("peeled", "masked"):
        raise ValueError(f"{_ir.author_place()}vectorized: tail: expected 'peeled' or 'masked', got {tail!r}")
    return _Loop("vectorized", first, second, name, lanes, tail == "masked")


def unrolled(first: Number, second: Number | None = None, /, *, name: str | None = None) -> Block[_ir.Expr]:
    """An unrolled loop; both bounds are constants."""
    return _Loop("unrolled", first, second, name)


class _When(Block[None]):
    def __init__(self, condition: Any) -> None:
        super().__init__(None)
        self._condition = condition

    def _record(self, body: _ir.Body) -> None:
        _ir.record_if(self._condition, body)


class _While(Block[None]):
    def __init__(self, condition: Any) -> None:
        super().__init__(None)
        self._condition = condition

    def _record(self, body: _ir.Body) -> None:
        _ir.record_while(self._condition, body)


def repeat(condition: _ir.Expr | bool = True) -> Block[None]:
    """`with repeat(k[0] < n):` runs its block again while the condition, evaluated before each round, holds.

    break_() leaves it, and continue_() goes on with the next round. Nothing limits the number of rounds.
    """
    return _While(condition)


class _Otherwise(Block[None]):
    def _record(self, body: _ir.Body) -> None:
        _ir.record_otherwise(body)


def when(condition: _ir.Expr) -> Block[None]:
    """`with when(i > 0):` runs its block only if the condition holds at run time."""
    return _When(condition)


def otherwise() -> Block[None]:
    """Directly after the block of `when`: runs its block if that condition does not hold."""
    return _Otherwise(None)


class Axes:
    """Indices .x, .y, .z of a thread or block; i32."""

    def __init__(self, x: _ir.Expr, y: _ir.Expr, z: _ir.Expr) -> None:
        self.x, self.y, self.z = x, y, z


class _Launch(Block[tuple[Axes, Axes]]):
    def __init__(self, grid: Any, block: Any, shared: Number) -> None:
        blocks, threads = (Axes(*(index(axis) for axis in range(3))) for index in (_ir.block_index, _ir.thread_index))
        super().__init__((blocks, threads))
        self._extents = grid, block, shared

    def _record(self, body: _ir.Body) -> None:
        _ir.record_launch(*self._extents, body)


def launch(
    grid: Number | tuple[Number, ...], block: Number | tuple[Number, ...], *, shared: Number = 0
) -> Block[tuple[Axes, Axes]]:
    """`with launch(grid=n, block=32) as (block, thread)`: runs its body in every thread of every block, on a device.

    grid, block: up to three extents. shared: bytes of dynamic shared memory.
    """
    return _Launch(grid, block, shared)
