"""Row-major memory, also called compact: the elements follow each other, the last dimension fastest. The core's own answer is
`IsCompact` in kernpack/signature/memory.h; this one is for shapes and strides that aren't a tensor's."""

from __future__ import annotations

from collections.abc import Sequence


def is_row_major(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Strides are in elements. Those of dimensions of size 1 don't matter, nor any where there are no elements."""
    if 0 in shape:
        return True
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != step:
            return False
        step *= size
    return True
