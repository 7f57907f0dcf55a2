"""The arguments that Triton's launcher adds, and launches of its that aren't supported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kernpack_compiler import ir

# Triton's launcher serves these, launches here don't: the field of the metadata, its value where the kernel doesn't need it, and
# the text of the error.
_REFUSED = {
    "launch_pdl": (False, "programmatic dependent launch, which isn't supported"),
    "clc": (False, "cluster launch control, which isn't supported"),
}
# The pointers behind the arguments, in this order: newer versions of Triton have more of them.
_SCRATCH = ("global_scratch_size", "profile_scratch_size")
_FIRST_ARCH_WITH_CLUSTERS = 90


def refuse(function: str, arch: int, metadata: Any) -> None:
    """NotImplementedError, by name, for what the kernel needs and a launch here doesn't do."""
    for what, (without, said) in _REFUSED.items():
        if (value := getattr(metadata, what, without)) and value != without:
            raise NotImplementedError(f"{function}: for sm_{arch} Triton's code needs {said}")


def check_clusters(function: str, ctas: object, archs: Iterable[int]) -> None:
    if type(ctas) is not int or not 1 <= ctas <= 16:
        raise ValueError(f"{function}: num_ctas: expected a number of blocks from 1 to 16, got {ctas!r}")
    without = [arch for arch in archs if arch < _FIRST_ARCH_WITH_CLUSTERS]
    if ctas > 1 and without:
        raise ValueError(
            f"{function}: num_ctas={ctas}: clusters need compute capability 9.0, and code for {without[0]} is wanted; pass "
            "archs=[90], and ptx= if it has others"
        )


def scratch_bytes(metadata: Any) -> dict[str, int]:
    """Of each program of the grid."""
    return {what: int(getattr(metadata, what, 0) or 0) for what in _SCRATCH}


def extras(function: str, counts: set[int], arguments: int, scratch: Mapping[str, int], programs: str) -> list[object]:
    """The arguments of the pointers behind Triton's own. counts: parameters of the kernel's codes. programs: of the grid, with those
    of a cluster."""
    number = min(counts) - arguments
    needed = max((i + 1 for i, what in enumerate(_SCRATCH) if scratch[what]), default=0)
    if len(counts) != 1 or not needed <= number <= len(_SCRATCH):
        raise NotImplementedError(
            f"{function}: this version of Triton gives a kernel with {arguments} arguments {min(counts)} parameters, which "
            "isn't understood; import_triton was tested with Triton 3.9"
        )
    sizes = [scratch[what] for what in _SCRATCH[:number]]
    return [f"workspace({size} * ({programs}))" if size else None for size in sizes]


def block_shapes(
    function: str, given: Mapping[str, Sequence[object]], known: Mapping[str, Any], constants: Mapping[str, Any]
) -> dict[str, list[int]]:
    """The blocks that tensor descriptors load and store, as numbers. known: what the parameters get."""
    shapes = {}
    for name, block in given.items():
        tensor = known.get(name)
        if not isinstance(tensor, ir.Buffer):
            raise ValueError(f"{function}: descriptors: '{name}' isn't a parameter that gets a tensor")
        if isinstance(block, str) or len(block) != tensor.ndim:
            raise ValueError(
                f"{function}: descriptors: '{name}': expected the extents of a block along {tensor.ndim} dims, got {block!r}"
            )
        extents = [constants.get(e) if isinstance(e, str) else e for e in block]
        for written, extent in zip(block, extents, strict=True):
            if type(extent) is not int or extent < 1:
                raise ValueError(
                    f"{function}: descriptors: '{name}': expected whole numbers from 1, or constants that are such, got "
                    f"{written!r}"
                )
        shapes[name] = [e for e in extents if isinstance(e, int)]
    return shapes


# Of what Triton says about a tensor map, what launches here don't do.
_REFUSED_MAPS = {
    "fp4_padded": "tensor descriptors with padded 4-bit elements",
    "is_im2col": "im2col tensor descriptors",
}
_SWIZZLES = (0, 32, 64, 128)  # bytes, by Triton's number
# Triton's numbers of elements where they aren't the driver's.
_ELEMENTS = {8: 10, 9: 8, 10: 9}


def tensor_maps(function: str, arch: int, metadata: Any, descriptors: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """By the parameters that get descriptors, in their order. {}: the code takes descriptors as tensors, extents and strides."""
    maps = list(getattr(metadata, "tensordesc_meta", None) or ())
    if not maps:
        return {}
    if len(maps) != len(descriptors):
        raise NotImplementedError(
            f"{function}: for sm_{arch} Triton's code takes {len(maps)} tensor maps for {len(descriptors)} descriptors, which "
            "isn't understood; import_triton was tested with Triton 3.9"
        )
    for one in maps:
        for what, said in _REFUSED_MAPS.items():
            if one.get(what):
                raise NotImplementedError(
                    f"{function}: for sm_{arch} Triton's code needs {said}, which aren't supported"
                )
    return dict(zip(descriptors, maps, strict=True))


def mapped(tensor: str, dims: int, tensor_map: Mapping[str, Any]) -> list[object]:
    """The arguments of a descriptor where the device has TMA: the tensor map, extents and strides."""
    element = _ELEMENTS.get(tensor_map["elem_type"], tensor_map["elem_type"])
    written = f"tensor_map({tensor}, {list(tensor_map['block_size'])}, swizzle={_SWIZZLES[tensor_map['swizzle']]}, element={element})"
    return [written, *_extents(tensor, dims), *_strides(tensor, dims)]


def _extents(tensor: str, dims: int) -> list[object]:
    return [f"{tensor}.shape[{d}]" for d in range(dims)]


def _strides(tensor: str, dims: int) -> list[object]:
    return [" * ".join(f"{tensor}.shape[{e}]" for e in range(d + 1, dims)) or 1 for d in range(dims)]


def decomposed(tensor: str, dims: int) -> list[object]:
    """The arguments of a descriptor where the device has no TMA: the tensor, its extents and strides, whether elements outside are
    NaN, whether f32 is rounded to tf32, and extents and strides again."""
    extents, strides = _extents(tensor, dims), _strides(tensor, dims)
    return [tensor, *extents, *strides, 0, 0, *extents, *strides]
