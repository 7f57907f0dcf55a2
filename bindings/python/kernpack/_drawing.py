"""The drawing below an error about a shape, as ffi/shared/drawn_extents.h draws it: the tensors that meet in a dim, one above the other,
with the sizes marked that don't fit.

    x: f32[N, D] = [4, 8]
    w: f32[D]    = [7]
                    ^ D is 8 in x
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kernpack._contract import TensorType
from kernpack._domain import Tensor

_WIDEST = 99  # columns; a drawing that is wider helps nobody
_TENSORS = 3


class Drawn(NamedTuple):
    name: str  # of a parameter, or of the item of a list: "xs[0]"
    contract: TensorType
    tensor: Tensor


def draw(others: Iterable[Drawn], misfit: Drawn, sizes: slice, note: str) -> str:
    """Lines for the tensors, each once, the one that doesn't fit last, with a mark below `sizes` of it; "" where they would be too
    wide, and for one tensor of one dim."""
    above = {each.name: each for each in others if each.name != misfit.name}
    shape = misfit.tensor.shape
    if not above and len(shape) < 2:
        return ""  # the error alone says as much
    tensors = [*list(above.values())[: _TENSORS - 1], misfit]
    names = [f"{each.name}:" for each in tensors]
    types = [f"{each.tensor.dtype}{each.contract.text}" for each in tensors]
    name_width, type_width = max(map(len, names)), max(map(len, types))
    lines = [
        f"    {name:{name_width}} {type_:{type_width}} = [{_join(each.tensor.shape)}]"
        for name, type_, each in zip(names, types, tensors, strict=True)
    ]
    before = _join(shape[: sizes.start]) + (", " if 0 < sizes.start < len(shape) else "")
    mark = "^" * max(1, len(_join(shape[sizes])))
    lines.append(" " * (4 + name_width + 1 + type_width + 4 + len(before)) + f"{mark} {note}")
    return "".join(f"\n{line}" for line in lines) if max(map(len, lines)) <= _WIDEST else ""


def find_sizes(contract: TensorType, shape: tuple[object, ...], term: int | None) -> slice:
    """The sizes that a term of the contract stands for; those of the batch for None."""
    spare = len(shape) - len(contract.terms)
    if term is None:
        return slice(0, spare)
    if not contract.has_tuple:
        return slice(term + spare, term + spare + 1)  # all dims but a batch's are at the end
    star = next(i for i, text in enumerate(contract.terms) if text.startswith("*"))
    return slice(term + (spare if term > star else 0), term + 1 + (spare if term >= star else 0))


def _join(sizes: tuple[object, ...]) -> str:
    return ", ".join(map(str, sizes))
