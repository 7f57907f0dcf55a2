"""Words of kernels, as plain Python runs them. In a compiled kernel, they become loops and memory of the IR."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple

from kernpack_compiler.lang._dtypes import Dtype, TensorType


class Axes(NamedTuple):
    """Indices .x, .y, .z of a thread or a block."""

    x: int
    y: int
    z: int


def parallel(first: int, second: int | None = None, /, *, grain: int = 0) -> range:
    """range() whose iterations run on several threads. The compiler must prove them independent.

    grain: the least iterations for a thread; 0: the generator decides.
    """
    return range(first) if second is None else range(first, second)


def vectorized(
    first: int, second: int | None = None, /, *, lanes: int, tail: Literal["peeled", "masked"] = "peeled"
) -> range:
    """range() of which `lanes` iterations run at once. tail: the remainder runs one by one (peeled), or as one masked step."""
    return range(first) if second is None else range(first, second)


def unrolled(first: int, second: int | None = None, /) -> range:
    """range() that is written out; both bounds are constants."""
    return range(first) if second is None else range(first, second)


def launch(
    grid: int | tuple[int, ...], block: int | tuple[int, ...], *, shared: int = 0
) -> Iterator[tuple[Axes, Axes]]:
    """`for block, thread in launch(grid=N, block=64):` runs its body in every thread of every block of a device.

    grid, block: up to three extents. shared: bytes of dynamic shared memory.
    """
    return ((b, t) for b in _places(grid) for t in _places(block))


def _places(extents: int | tuple[int, ...]) -> list[Axes]:
    given = extents if isinstance(extents, tuple) else (extents,)
    x, y, z = (*given, 1, 1, 1)[:3]
    return [Axes(i, j, k) for k in range(int(z)) for j in range(int(y)) for i in range(int(x))]


def barrier() -> None:
    """Waits for all threads of the block. Plain Python runs threads one after the other, and can't."""
    raise RuntimeError(
        "barrier() waits for the other threads of the block, which plain Python runs one after the other; "
        "ir.interpret(kernel.module, name, ...) runs them together"
    )


def local(tensor: TensorType) -> Any:
    """Memory of a thread: `best = local(f32[8])`. It lives to the end of its block; read what you have written only."""
    return _memory("local", tensor)


def shared(tensor: TensorType) -> Any:
    """Memory that the threads of a block share, inside a launch: `tile = shared(f32[16, 16])`."""
    return _memory("shared", tensor)


def workspace(tensor: TensorType) -> Any:
    """Memory for larger intermediate values: `row = workspace(f32[D])`. The host keeps it between calls."""
    return _memory("workspace", tensor)


def _memory(word: str, tensor: TensorType) -> Any:
    from kernpack_compiler.lang._arrays import Memory

    if not isinstance(tensor, TensorType):
        raise TypeError(f"{word}: expected a type with extents, such as {word}(f32[8]), got {tensor!r}")
    return Memory(word, tensor)


def argmax(values: Iterable[Any]) -> int:
    """The index of the largest value: argmax(x[i, j] for j in range(D)). Of equal values, and of NaNs, the first; -1 if there are none.

    It is the value of the generator's counter, from a range that begins at 0.
    """
    return _place(values, lambda value, best: value > best)


def argmin(values: Iterable[Any]) -> int:
    """The index of the smallest value, as argmax()."""
    return _place(values, lambda value, best: value < best)


def _place(values: Iterable[Any], is_better: Callable[[Any, Any], bool]) -> int:
    at, best = -1, None
    for index, value in enumerate(values):
        if at < 0 or is_better(value, best) or (value != value and best == best):
            at, best = index, value
    return at


def sigmoid(x: float) -> float:
    """1 / (1 + exp(-x)), without overflow."""
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


def bitcast(dtype: Dtype, x: Any) -> Any:
    """The same bits as another type of the same width: bitcast(i32, f32(1.0))."""
    import numpy as np

    value = np.asarray(x)
    letter = {"f": "float", "i": "int", "u": "uint"}.get(dtype.name[0])
    if letter is None or not dtype.name[1:].isdigit():
        raise TypeError(f"bitcast: plain Python has no bits of {dtype}")
    return value.view(np.dtype(letter + dtype.name[1:]))[()]
