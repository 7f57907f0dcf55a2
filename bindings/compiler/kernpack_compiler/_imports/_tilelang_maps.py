"""Tensor maps (TMA) of TileLang's kernels, as its host half makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_TILED = "__tvm_tensormap_create_tiled"
# Bytes, by the driver's numbers.
_SWIZZLES = (0, 32, 64, 128)
_PROMOTIONS = (0, 64, 128, 256)


@dataclass(frozen=True)
class TileLangMap:
    """tensor: in TileLang's names. options: of tensor_map()."""

    tensor: str
    options: str

    def written(self, tensor: object) -> str:
        """The argument of the launch, of the contract's tensor."""
        return f"tensor_map({tensor}, {self.options})"


def read(name: str, words: Sequence[Any], function: Any, tilelang: Any, chosen: str) -> TileLangMap:
    """NotImplementedError for maps that tensor_map() doesn't make: those of a part of a tensor, for one.

    words: the kind, the map, the type of elements, the rank, the tensor; of each dim, innermost first, the extent, the stride in bytes,
    the extent of the box, the step; interleaving, swizzling, promotion into the L2 cache, what is outside of the tensor.
    """

    def refuse(said: str) -> NotImplementedError:
        return NotImplementedError(
            f"{chosen}: TileLang's code needs a tensor map '{name}' {said}, which isn't supported"
        )

    if str(words[0]).strip('"') != _TILED:
        raise refuse(f"that {words[0]} makes")
    element, rank, tensor = int(words[2]), int(words[3]), str(words[4])
    of_dims, modes = words[5:-4], [int(word) for word in words[-4:]]
    extents, strides, box, steps = (of_dims[i * rank : (i + 1) * rank] for i in range(4))
    buffer = next(
        (b for b in function.buffer_map.values() if str(b.data.name) == tensor or str(b.name) == tensor), None
    )
    if buffer is None:
        raise refuse(f"of '{tensor}', which isn't a parameter")
    shape = list(buffer.shape)[::-1]
    equal = tilelang.tvm.arith.Analyzer().can_prove_equal
    size: Any = tilelang.tvm.DataType(str(buffer.dtype)).bits // 8
    whole = rank == len(shape)
    for theirs, extent, stride in zip(extents, shape, strides, strict=False):
        whole = whole and bool(equal(theirs, extent)) and bool(equal(stride, size))
        size = size * extent
    if not whole:
        raise refuse(f"of a part of '{tensor}'")
    interleave, swizzle, promotion, fill = modes
    if interleave or swizzle >= len(_SWIZZLES) or any(int(step) != 1 for step in steps):
        raise refuse("with interleaving, steps or such swizzling")
    block = [int(extent) for extent in box][::-1]
    return TileLangMap(
        str(buffer.name),
        f"{block}, swizzle={_SWIZZLES[swizzle]}, l2={_PROMOTIONS[promotion]}, element={element}, fill_nan={fill}",
    )
