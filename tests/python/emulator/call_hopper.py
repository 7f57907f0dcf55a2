"""Tensor maps of the emulated driver, and a kernel that nvcc compiles for Hopper. The word says which: "maps", or the file of the PTX."""

from __future__ import annotations

import ctypes as c
import sys
from pathlib import Path
from typing import Any

import numpy as np
from driver_calls import _Config, call, need

_F32, _BF16 = 7, 9
_TILE = 64


def encode(
    address: int,
    dims: tuple[int, ...],
    strides: tuple[int, ...],
    box: tuple[int, ...],
    *,
    kind: int = _BF16,
    steps: tuple[int, ...] | None = None,
    interleave: int = 0,
    swizzle: int = 0,
    fill: int = 0,
    rank: int | None = None,
    offset: int = 0,
) -> tuple[int, Any]:
    """The result, and the map in memory that begins at a multiple of 64, or `offset` behind one."""
    room = (c.c_uint8 * 320)()
    at = (c.addressof(room) + 63) // 64 * 64 + offset
    longs, words = (c.c_uint64 * 5), (c.c_uint32 * 5)
    result = call(
        "cuTensorMapEncodeTiled", at, kind, len(dims) if rank is None else rank, address, longs(*dims), longs(*strides),
        words(*box), words(*(steps or (1,) * len(dims))), interleave, swizzle, 0, fill,
    )  # fmt: skip
    return result, (at, room)


def begin() -> None:
    device, context = c.c_int(), c.c_void_p()
    need("cuInit", 0)
    need("cuDeviceGet", c.byref(device), 0)
    need("cuDevicePrimaryCtxRetain", c.byref(context), 0)
    need("cuCtxSetCurrent", context)


def maps() -> None:
    """Print the result of encoding maps, most of which are wrong in one way."""
    begin()
    good: dict[str, Any] = {"address": 4096, "dims": (64, 8), "strides": (128,), "box": (64, 8)}
    wrong: dict[str, dict[str, Any]] = {
        "good": {},
        "swizzled": {"swizzle": 3},
        "five dimensions": {"dims": (64, 2, 2, 2, 2), "strides": (128, 256, 512, 1024), "box": (8, 1, 1, 1, 1)},
        "filled with NaN": {"fill": 1},
        "element strides": {"steps": (1, 8)},
        "misaligned address": {"address": 4104},
        "misaligned map": {"offset": 32},
        "no dimension": {"rank": 0},
        "six dimensions": {"rank": 6},
        "no such type": {"kind": 99},
        "empty": {"dims": (0, 8)},
        "too large": {"dims": (2**33, 8)},
        "stride": {"strides": (120,)},
        "stride too large": {"strides": (2**40,)},
        "empty box": {"box": (64, 0)},
        "large box": {"box": (64, 257)},
        "box of 8 bytes": {"box": (4, 8)},
        "box wider than the swizzle": {"swizzle": 2},
        "no such swizzle": {"swizzle": 9},
        "interleaved": {"interleave": 1},
        "step": {"steps": (1, 9)},
        "no step": {"steps": (1, 0)},
        "integers filled with NaN": {"kind": 1, "fill": 1},
    }
    for name, change in wrong.items():
        result, _ = encode(**{**good, **change})
        print(f"{name}: {result}")


def brain(values: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """bf16 as bits, and as numbers."""
    bits = (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return bits, (bits.astype(np.uint32) << 16).view(np.float32)


def upload(values: np.ndarray[Any, Any]) -> int:
    memory = c.c_uint64()
    need("cuMemAlloc", c.byref(memory), values.nbytes)
    need("cuMemcpyHtoD", memory.value, values.ctypes.data, values.nbytes)
    return memory.value


def product(ptx: bytes) -> None:
    begin()
    module, kernel = c.c_void_p(), c.c_void_p()
    need("cuModuleLoadDataEx", c.byref(module), ptx, 0, None, None)
    need("cuModuleGetFunction", c.byref(kernel), module, b"matmul")
    shared = 6 * _TILE * _TILE * 2
    need("cuFuncSetAttribute", kernel, 8, shared)
    m, n, k = 100, 72, 264
    random = np.random.default_rng(1)
    a, of_a = brain(random.standard_normal((m, k)))
    b, of_b = brain(random.standard_normal((n, k)))
    out = np.zeros((m, n), np.float32)
    memory = upload(out)
    tile = (_TILE, _TILE)
    made = [
        encode(upload(a), (k, m), (2 * k,), tile, swizzle=3),
        encode(upload(b), (k, n), (2 * k,), tile, swizzle=3),
        encode(memory, (n, m), (4 * n,), tile, kind=_F32),
    ]
    assert [result for result, _ in made] == [0, 0, 0]
    depth = c.c_int(k)
    parameters = (c.c_void_p * 4)(*(at for _, (at, _) in made), c.addressof(depth))
    config = _Config((-(-n // _TILE), -(-m // _TILE), 1), (160, 1, 1), shared, None, None, 0)
    result = call("cuLaunchKernelEx", c.byref(config), kernel, parameters, None) or call("cuStreamSynchronize", None)
    if result != 0:
        text = c.c_char_p()
        need("cuGetErrorString", result, c.byref(text))
        print((text.value or b"").decode())
        return
    need("cuMemcpyDtoH", out.ctypes.data, memory, out.nbytes)
    np.testing.assert_allclose(out, of_a @ of_b.T, rtol=1e-4, atol=1e-3)
    print("right")


if __name__ == "__main__":
    if sys.argv[1] == "maps":
        maps()
    else:
        product(Path(sys.argv[1]).read_bytes() + b"\0")
