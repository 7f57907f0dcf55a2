"""Arguments that are tensor maps (TMA): what import_kernel() refuses, and what a launch makes of them."""

from __future__ import annotations

import re
from typing import Any

import pytest

kc = pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")

if "llvm" not in kc.list_generators():
    pytest.skip("LLVM makes the functions that launch imported kernels", allow_module_level=True)

# Copies its first parameter, 128 bytes, to memory.
SHOW = """.version 8.0
.target sm_90
.address_size 64
.visible .entry show(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 n)
{
  ret;
}
"""
CONTRACT = "(x: f32[M, N]) -> (y: u64[16])"


def imported(tensor_map: str = "tensor_map(x, [8, 32], swizzle=128)", **changed: Any) -> Any:
    given = {"contract": CONTRACT, "args": [tensor_map, "y", "N"], "grid": 1, "block": 1, **changed}
    return kc.import_kernel(SHOW, given.pop("contract"), **given)


def test_a_map_is_of_a_tensor_its_extents_and_strides() -> None:
    module = kc.build_imported(imported())
    # The tensor, extents and the stride in bytes, innermost dims first; then the other arguments.
    assert (
        "private func show_launch_0(p0: f32[D0_0, D0_1], p1: i64, p2: i64, p3: i64, p4!: u64[D4_0], p5: i32)"
        in module.source
    )
    [(_, binary, _)] = imported().kernels
    first, out, n = binary.parameters
    assert (first.argument, first.tensor, out.map, n.map) == (0, "x", [], [])
    modes, box, steps, extents, strides = (first.map[a:b] for a, b in ((0, 6), (6, 11), (11, 16), (16, 21), (21, 25)))
    assert modes == [2, 7, 0, 3, 2, 0]  # rank, f32, not interleaved, swizzled over 128 bytes, 128 bytes into L2, zeros
    assert (box, steps, extents, strides) == ([32, 8, 0, 0, 0], [1] * 5, [1, 2, 0, 0, 0], [3, 0, 0, 0])


def test_modes_and_constants_are_numbers() -> None:
    [(_, binary, _)] = imported("tensor_map(x, [2 * 4, 16], element=11, fill_nan=True, l2=0)").kernels
    assert binary.parameters[0].map[:8] == [2, 11, 0, 0, 0, 1, 16, 8]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("tensor_map(x, [8, 257])", "TMA copies blocks of 1 to 256 elements along a dim, got 257"),
        ("tensor_map(x, [0, 32])", "TMA copies blocks of 1 to 256 elements along a dim, got 0"),
        ("tensor_map(x, [8])", "expected the extents of a block along 2 dims, got [8]"),
        ("tensor_map(x, [8, 2])", "TMA copies rows of a multiple of 16 bytes, got a block with rows of 8"),
        ("tensor_map(x, [8, 64], swizzle=128)", "rows of at most 128 bytes, which are swizzled, got 256"),
        ("tensor_map(x, [8, 32], swizzle=16)", "swizzle: expected 0, 32, 64, 128 bytes, got 16"),
        ("tensor_map(x, [8, 32], l2=3)", "l2: expected 0, 64, 128, 256 bytes, got 3"),
        ("tensor_map(x, [8, 32], order=1)", "'order' isn't supported; write swizzle, l2, element, fill_nan"),
        ("tensor_map(x, [8, N])", "a tensor map's blocks and modes are known when it is imported; write a number"),
        ("tensor_map(N, [8, 32])", "expected a tensor of the contract and a list; write tensor_map(x, [64, 32]"),
        ("tensor_map(x)", "expected a tensor of the contract and a list; write tensor_map(x, [64, 32]"),
        ("tensor_map(x, [8, 32)", "; write tensor_map(x, [64, 32]"),
        ("x", "is a struct passed by value; pointers and numbers are taken; write tensor_map(x, [64, 32]"),
    ],
)  # fmt: skip
def test_maps_that_tma_does_not_take_are_named(given: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        imported(given) if given != "x" else imported("N")


def test_tensors_that_tma_does_not_take_are_named() -> None:
    with pytest.raises(ValueError, match="TMA takes tensors of 1 to 5 dims, 'x' has 6"):
        imported("tensor_map(x, [1, 1, 1, 1, 1, 32])", contract="(x: f32[A, B, C, D, E, N]) -> (y: u64[16])")
    with pytest.raises(ValueError, match=r"parameter 1 of kernel 'show' .* isn't a CUtensorMap, which has 128 bytes"):
        imported(args=["tensor_map(x, [8, 32])", "tensor_map(x, [8, 32])", "N"])
    with pytest.raises(TypeError, match="show: cooperative: expected True or False, got 1"):
        imported(cooperative=1)
