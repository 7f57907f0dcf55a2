"""Run few_bits.cu's kernels, whose PTX the second word names; or encode tensor maps of im2col, most of which are wrong in one way."""

from __future__ import annotations

import ctypes as c
import sys
from pathlib import Path
from typing import Any

import numpy as np
from call_hopper import begin, upload
from driver_calls import _Config, call, need

_FOURS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
_U16 = 1


def encode(
    address: int = 4096,
    dims: tuple[int, ...] = (8, 7, 6, 3),
    strides: tuple[int, ...] = (16, 112, 672),
    *,
    lower: tuple[int, ...] = (-1, -1),
    upper: tuple[int, ...] = (-1, -1),
    channels: int = 8,
    pixels: int = 64,
    swizzle: int = 0,
    kind: int = _U16,
) -> tuple[int, Any]:
    room = (c.c_uint8 * 320)()
    at = (c.addressof(room) + 63) // 64 * 64
    longs, words, numbers = (c.c_uint64 * 5), (c.c_uint32 * 5), (c.c_int * 3)
    result = call(
        "cuTensorMapEncodeIm2col", at, kind, len(dims), address, longs(*dims), longs(*strides), numbers(*lower),
        numbers(*upper), channels, pixels, words(*(1,) * len(dims)), 0, swizzle, 0, 0,
    )  # fmt: skip
    return result, (at, room)


def maps() -> None:
    begin()
    wrong: dict[str, dict[str, Any]] = {
        "good": {},
        "volumes": {"dims": (8, 4, 4, 4, 2), "strides": (16, 64, 256, 1024), "lower": (-16, 0, 0), "upper": (15, 0, 0)},
        "two dimensions": {"dims": (8, 7), "strides": (16,)},
        "corner of an image": {"lower": (-129, 0)},
        "corner of a volume": {
            "dims": (8, 4, 4, 4, 2), "strides": (16, 64, 256, 1024), "lower": (0, 0, 0), "upper": (16, 0, 0),
        },
        "corner beyond 16 bits": {"upper": (0, 65536)},
        "no channel": {"channels": 0},
        "too many channels": {"channels": 264},
        "channels of 8 bytes": {"channels": 4},
        "no pixel": {"pixels": 0},
        "too many pixels": {"pixels": 1025},
        "wider than the swizzle": {"dims": (64, 7, 6, 3), "strides": (128, 896, 5376), "channels": 64, "swizzle": 1},
        "no such type": {"kind": 99},
    }  # fmt: skip
    for name, change in wrong.items():
        print(f"{name}: {encode(**change)[0]}")


def launch(module: c.c_void_p, name: bytes, threads: int, *arguments: Any) -> None:
    kernel = c.c_void_p()
    need("cuModuleGetFunction", c.byref(kernel), module, name)
    parameters = (c.c_void_p * len(arguments))(
        *(each if isinstance(each, int) else c.addressof(each) for each in arguments)
    )
    config = _Config((1, 1, 1), (threads, 1, 1), 0, None, None, 0)
    result = call("cuLaunchKernelEx", c.byref(config), kernel, parameters, None) or call("cuStreamSynchronize", None)
    text = c.c_char_p()
    if result != 0:
        need("cuGetErrorString", result, c.byref(text))
    assert result == 0, text.value


def scaled(module: c.c_void_p) -> None:
    """As the PTX manual lays registers out: m16n8k64 of 4 bits, and the scales in every fourth thread."""
    random = np.random.default_rng(3)
    a, b = random.integers(0, 16, (16, 64)), random.integers(0, 16, (8, 64))
    scale_a, scale_b = random.integers(0x30, 0x40, (16, 4)), random.integers(0x30, 0x40, (8, 4))
    registers_a, registers_b = np.zeros((32, 4), np.uint32), np.zeros((32, 2), np.uint32)
    words_a, words_b = np.full(32, 0x7F7F7F7F, np.uint32), np.full(32, 0x7F7F7F7F, np.uint32)
    shifts = 4 * np.arange(8)
    for lane in range(32):
        for r in range(4):
            row, k = lane // 4 + r % 2 * 8, lane % 4 * 8 + r // 2 * 32
            registers_a[lane, r] = (a[row, k : k + 8] << shifts).sum()
            if r < 2:
                registers_b[lane, r] = (b[lane // 4, lane % 4 * 8 + r * 32 :][:8] << shifts).sum()
    for row in range(16):
        words_a[row % 8 * 4 + 2 + row // 8] = (scale_a[row] << (8 * np.arange(4))).sum()
    for column in range(8):
        words_b[column * 4 + 2] = (scale_b[column] << (8 * np.arange(4))).sum()
    out = np.zeros((32, 4), np.float32)
    memory = upload(out)
    inputs = [c.c_uint64(upload(each)) for each in (registers_a, registers_b, words_a, words_b)]
    launch(module, b"scaled", 32, *inputs, c.c_uint64(memory))
    need("cuMemcpyDtoH", out.ctypes.data, memory, out.nbytes)

    def values(codes: np.ndarray[Any, Any], scales: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        scale = (1 + scales % 8 / 8) * 2.0 ** (scales // 8 - 7)
        return np.asarray(_FOURS[codes] * np.repeat(scale, 16, axis=1))

    expected = values(a, scale_a) @ values(b, scale_b).T + 1
    lanes, sums = np.meshgrid(np.arange(32), np.arange(4), indexing="ij")
    np.testing.assert_array_equal(out, expected[lanes // 4 + sums // 2 * 8, lanes % 4 * 2 + sums % 2])
    print("scaled: right")


def pixels(module: c.c_void_p) -> None:
    """A filter of 3 x 3 with a pad of 1: what each of its elements meets, from the middle of the first image on."""
    images = np.random.default_rng(5).integers(1, 1000, (3, 6, 7, 8)).astype(np.uint16)
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    result, (at, _room) = encode(upload(images))
    assert result == 0
    out = np.zeros((64, 8), np.uint16)
    memory = upload(out)
    for s, r in ((0, 0), (1, 2), (2, 1)):
        launch(module, b"pixels", 64, at, c.c_uint64(memory), *(c.c_int(each) for each in (2, 3, 0, s, r)))
        need("cuMemcpyDtoH", out.ctypes.data, memory, out.nbytes)
        met = padded[:, r : r + 6, s : s + 7].reshape(-1, 8)
        first = 4 * 7 + 3  # the output whose first input is (2, 3) beside a pad of 1
        np.testing.assert_array_equal(out, met[first : first + 64])
    print("pixels: right")


if __name__ == "__main__":
    if sys.argv[1] == "maps":
        maps()
    else:
        begin()
        loaded = c.c_void_p()
        need("cuModuleLoadDataEx", c.byref(loaded), Path(sys.argv[1]).read_bytes() + b"\0", 0, None, None)
        scaled(loaded)
        pixels(loaded)
