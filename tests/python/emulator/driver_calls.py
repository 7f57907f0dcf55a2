"""Calls of the emulated driver's functions, as a program does that knows nothing of Kernpack: by ctypes. The word says which."""

from __future__ import annotations

import ctypes as c
import os
import sys
from collections.abc import Callable
from typing import Any

import kernpack_cuda_emulator

_CUDA_12_8 = 12080
_PTX = b""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .u32 %r<4>; .reg .u64 %d<4>;
ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;
st.global.u32 [%d1], %r1;
ret;
}
"""


class _Attribute(c.Structure):
    _fields_ = (("id", c.c_int), ("pad", c.c_char * 4), ("value", c.c_uint * 16))


class _Config(c.Structure):
    _fields_ = (
        ("grid", c.c_uint * 3),
        ("block", c.c_uint * 3),
        ("shared_bytes", c.c_uint),
        ("stream", c.c_void_p),
        ("attributes", c.POINTER(_Attribute)),
        ("attribute_count", c.c_uint),
    )


_lookup = c.CDLL(str(kernpack_cuda_emulator.LIBRARY)).cuGetProcAddress_v2


def call(name: str, *arguments: Any) -> int:
    entry, status = c.c_void_p(), c.c_int()
    assert _lookup(name.encode(), c.byref(entry), c.c_int(_CUDA_12_8), c.c_ulonglong(0), c.byref(status)) == 0, name
    assert entry.value is not None, name
    types = [type(each) if isinstance(each, c.Structure) else c.c_void_p for each in arguments]  # by value
    function: Callable[..., int] = c.CFUNCTYPE(c.c_int, *types)(entry.value)
    return function(*arguments)


def need(name: str, *arguments: Any) -> None:
    assert (result := call(name, *arguments)) == 0, (name, result)


def begin() -> tuple[c.c_void_p, int]:
    """A kernel that writes as many words as it has threads, and memory for 32."""
    device, context, module, kernel, memory = c.c_int(), c.c_void_p(), c.c_void_p(), c.c_void_p(), c.c_uint64()
    need("cuInit", 0)
    need("cuDeviceGet", c.byref(device), 0)
    need("cuDevicePrimaryCtxRetain", c.byref(context), 0)
    need("cuCtxSetCurrent", context)
    need("cuModuleLoadDataEx", c.byref(module), _PTX, 0, None, None)
    need("cuModuleGetFunction", c.byref(kernel), module, b"k")
    need("cuMemAlloc", c.byref(memory), 128)
    return kernel, memory.value


def launch(kernel: c.c_void_p, memory: int, threads: int, *attributes: tuple[int, int]) -> int:
    """The result of the launch, then of waiting for it."""
    kept = (_Attribute * max(len(attributes), 1))()
    for at, (number, value) in zip(kept, attributes, strict=False):
        at.id, at.value[0] = number, value
    config = _Config((1, 1, 1), (threads, 1, 1), 0, None, kept, len(attributes))
    pointer = c.c_uint64(memory)
    parameters = (c.c_void_p * 1)(c.addressof(pointer))
    return call("cuLaunchKernelEx", c.byref(config), kernel, parameters, None) or call("cuStreamSynchronize", None)


def launches() -> None:
    kernel, memory = begin()
    for number in range(16):
        print(number, launch(kernel, memory, 32, (number, 0)), launch(kernel, memory, 32, (number, 1)))


def facts() -> None:
    _, memory = begin()
    mode = c.c_int(-1)
    need("cuDeviceGetAttribute", c.byref(mode), 20, 0)
    print("compute mode", mode.value)
    for attribute, there, bytes_written in (
        (3, memory + 8, 8), (6, 0, 4), (7, memory, 8), (8, 0, 4), (9, 0, 4), (10, 1, 4), (11, memory, 8), (12, 128, 8), (13, 1, 4),
        (14, 0, 8), (17, 0, 8),
    ):  # fmt: skip
        room = (c.c_uint8 * 16)(*[0xEE] * 16)
        need("cuPointerGetAttribute", room, attribute, memory + 8)
        given = bytes(room)
        assert int.from_bytes(given[:bytes_written], "little") == there, (attribute, given)
        assert given[bytes_written:] == b"\xee" * (16 - bytes_written), (attribute, given)
    print("unknown", call("cuPointerGetAttribute", (c.c_uint8 * 16)(), 5, memory))


def fails(*, asks: bool) -> None:
    kernel, memory = begin()
    result = launch(kernel, memory, 64)
    text = c.c_char_p()
    need("cuGetErrorName", result, c.byref(text))
    print((text.value or b"").decode())
    if asks:
        need("cuGetErrorString", result, c.byref(text))


def forked() -> None:
    """A child of a process that has used the device is told why it can't; the parent goes on."""
    kernel, memory = begin()
    if (child := os.fork()) == 0:
        result, text = call("cuCtxSynchronize"), c.c_char_p()
        need("cuGetErrorString", result, c.byref(text))
        print(result, (text.value or b"").decode(), flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    print(launch(kernel, memory, 32))


if __name__ == "__main__":
    {
        "launches": launches,
        "facts": facts,
        "forked": forked,
        "name": lambda: fails(asks=False),
        "text": lambda: fails(asks=True),
    }[sys.argv[1]]()
