"""Arguments that are tensor maps (CUtensorMap), from which kernels copy by TMA: "tensor_map(x, [64, 32], swizzle=128)"."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernpack_compiler import ir
from kernpack_compiler._imports import _expression
from kernpack_compiler._imports._entry import Parameter as Declared

BYTES = 128
_WRITTEN = re.compile(r"\s*tensor_map\(.*\)\s*", re.DOTALL)
_MOST_DIMS = 5
_MOST_IN_BLOCK = 256
# The driver's numbers: CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapL2promotion. The modes' names are bytes.
_ELEMENTS = {
    "u8": 0, "u16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9,
    # Copying changes no bits: where the driver has no type of that name, another one of its size.
    "i8": 0, "bool": 0, "f8_e4m3fn": 0, "f8_e5m2": 0, "i16": 1,
}  # fmt: skip
_BYTES = {0: 1, 1: 2, 2: 4, 3: 4, 4: 8, 5: 8, 6: 2, 7: 4, 8: 8, 9: 2}
_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
_PROMOTIONS = {0: 0, 64: 1, 128: 2, 256: 3}
_HOW = "write tensor_map(x, [64, 32], swizzle=128), with the extents of a block of the tensor x"


@dataclass(frozen=True)
class Parameter:
    """Where a parameter comes from. argument: of the launch. map: the words of a KpFrameTensorMap; []: the argument itself."""

    argument: int
    map: list[int]
    tensor: str


@dataclass(frozen=True)
class MapOf:
    """A map of a tensor. Innermost dims first. modes: element, interleave, swizzle, promotion, fill. strides: bytes."""

    tensor: ir.Buffer
    modes: tuple[int, ...]
    box: list[int]
    extents: list[Any]
    strides: list[Any]


def is_map(given: str) -> bool:
    return _WRITTEN.fullmatch(given) is not None


def parse(given: str, known: Mapping[str, Any], parameter: Declared, where: str, into: str) -> MapOf:
    """ValueError where the parameter isn't 128 bytes, or TMA has no such map."""
    if parameter.size != BYTES or parameter.type not in ("array", ""):
        raise ValueError(f"{where}: {into} isn't a CUtensorMap, which has {BYTES} bytes, got '{given}'")
    call = _call(given, where)
    name = call.args[0].id if call.args and isinstance(call.args[0], ast.Name) else None
    tensor = known.get(name) if name else None
    if not isinstance(tensor, ir.Buffer) or len(call.args) != 2 or not isinstance(call.args[1], ast.List):
        raise ValueError(f"{where}: '{given}': expected a tensor of the contract and a list; {_HOW}")
    block = [_number(ast.unparse(extent), known, where) for extent in call.args[1].elts]
    _check_block(block, tensor, f"{where}: '{given}'")
    modes = _modes(call, block, tensor, known, f"{where}: '{given}'")
    extents = [ir.i64(extent) for extent in tensor.shape]
    strides: list[Any] = [ir.i64(_bytes(tensor))]
    for extent in reversed(extents[1:]):
        strides.append(strides[-1] * extent)
    return MapOf(tensor, modes, block[::-1], extents[::-1], strides[1:])


def parameter_of(value: Any, arguments: list[Any]) -> Parameter:
    """Adds what the parameter needs to the launch's arguments. Tensors are there once."""
    if not isinstance(value, MapOf):
        return Parameter(_place(value, arguments), [], "")
    at = _place(value.tensor, arguments)
    element, interleave, swizzle, promotion, fill = value.modes
    words = [len(value.box), element, interleave, swizzle, promotion, fill]
    words += _padded(value.box, _MOST_DIMS) + [1] * _MOST_DIMS
    words += _padded([_place(e, arguments) for e in value.extents], _MOST_DIMS)
    words += _padded([_place(s, arguments) for s in value.strides], _MOST_DIMS - 1)
    return Parameter(at, words, value.tensor.name)


def _place(value: Any, arguments: list[Any]) -> int:
    for i, there in enumerate(arguments):
        if isinstance(value, ir.Buffer) and there is value:
            return i
    arguments.append(value)
    return len(arguments) - 1


def _bytes(tensor: ir.Buffer) -> int:
    return _BYTES[_ELEMENTS[tensor.dtype.name]]


def _padded(numbers: list[int], count: int) -> list[int]:
    return numbers + [0] * (count - len(numbers))


def _call(given: str, where: str) -> ast.Call:
    try:
        tree = ast.parse(given.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{where}: '{given}': {error.msg}; {_HOW}") from error
    if not isinstance(tree, ast.Call):
        raise ValueError(f"{where}: '{given}': {_HOW}")
    return tree


def _number(text: str, known: Mapping[str, Any], where: str) -> int:
    value = _expression.evaluate(text, known, where)
    if not isinstance(value, int):
        raise ValueError(
            f"{where}: '{text}': a tensor map's blocks and modes are known when it is imported; write a number"
        )
    return int(value)


def _check_block(block: list[int], tensor: ir.Buffer, where: str) -> None:
    if not 1 <= tensor.ndim <= _MOST_DIMS:
        raise ValueError(f"{where}: TMA takes tensors of 1 to {_MOST_DIMS} dims, '{tensor.name}' has {tensor.ndim}")
    if len(block) != tensor.ndim:
        raise ValueError(f"{where}: expected the extents of a block along {tensor.ndim} dims, got {block}")
    for extent in block:
        if not 1 <= extent <= _MOST_IN_BLOCK:
            raise ValueError(f"{where}: TMA copies blocks of 1 to {_MOST_IN_BLOCK} elements along a dim, got {extent}")
    if tensor.dtype.name not in _ELEMENTS:
        raise ValueError(f"{where}: TMA copies no elements of type {tensor.dtype.name}; it has {', '.join(_ELEMENTS)}")
    row = block[-1] * _bytes(tensor)
    if row % 16:
        raise ValueError(f"{where}: TMA copies rows of a multiple of 16 bytes, got a block with rows of {row}")


def _modes(
    call: ast.Call, block: list[int], tensor: ir.Buffer, known: Mapping[str, Any], where: str
) -> tuple[int, ...]:
    chosen = {"swizzle": 0, "l2": 128, "element": _ELEMENTS[tensor.dtype.name], "fill_nan": 0}
    for word in call.keywords:
        if word.arg not in chosen:
            raise ValueError(f"{where}: '{word.arg}' isn't supported; write {', '.join(chosen)}")
        chosen[word.arg] = _number(ast.unparse(word.value), known, where)
    for what, modes in (("swizzle", _SWIZZLES), ("l2", _PROMOTIONS)):
        if chosen[what] not in modes:
            raise ValueError(f"{where}: {what}: expected {', '.join(map(str, modes))} bytes, got {chosen[what]}")
    row = block[-1] * _bytes(tensor)
    if chosen["swizzle"] and row > chosen["swizzle"]:
        raise ValueError(
            f"{where}: expected a block with rows of at most {chosen['swizzle']} bytes, which are swizzled, got {row}"
        )
    return chosen["element"], 0, _SWIZZLES[chosen["swizzle"]], _PROMOTIONS[chosen["l2"]], chosen["fill_nan"]
