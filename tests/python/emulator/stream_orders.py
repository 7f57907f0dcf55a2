"""Two kernels that touch one word, on streams; the word of the command line says what orders them. Exit status 1: an error was found."""

from __future__ import annotations

import ctypes as c
import sys
from typing import Any

_PTX = b""".version 8.0
.target sm_80
.address_size 64
.visible .entry writes(.param .u64 p) { .reg .u32 %r<4>; .reg .u64 %d<4>; ld.param.u64 %d1, [p];
mov.u32 %r1, 7;
st.global.u32 [%d1], %r1; ret; }
.visible .entry reads(.param .u64 p) { .reg .u32 %r<4>; .reg .u64 %d<4>; ld.param.u64 %d1, [p];
ld.global.u32 %r1, [%d1];
st.global.u32 [%d1+64], %r1; ret; }
.visible .entry counts(.param .u64 p) { .reg .u64 %d<4>; ld.param.u64 %d1, [p];
red.global.add.u32 [%d1], 1; ret; }
"""
_cuda = c.CDLL("libcuda.so.1")


def need(name: str, *arguments: Any) -> None:
    assert (result := getattr(_cuda, name)(*arguments)) == 0, (name, result)


def _stream(flags: int) -> c.c_void_p:
    stream = c.c_void_p()
    need("cuStreamCreate", c.byref(stream), flags)
    return stream


class Program:
    """The device, two streams and an event."""

    def __init__(self, flags: int) -> None:
        device, context, self.module, self.memory = c.c_int(), c.c_void_p(), c.c_void_p(), c.c_uint64()
        need("cuInit", 0)
        need("cuDeviceGet", c.byref(device), 0)
        need("cuDevicePrimaryCtxRetain", c.byref(context), device)
        need("cuCtxSetCurrent", context)
        need("cuModuleLoadData", c.byref(self.module), _PTX)
        need("cuMemAlloc_v2", c.byref(self.memory), c.c_size_t(256))
        need("cuMemsetD8_v2", self.memory, c.c_ubyte(1), c.c_size_t(256))
        need("cuCtxSynchronize")
        self.one, self.other, self.event = _stream(flags), _stream(flags), c.c_void_p()
        need("cuEventCreate", c.byref(self.event), 0)

    def launch(self, name: bytes, stream: c.c_void_p | None) -> None:
        kernel = c.c_void_p()
        need("cuModuleGetFunction", c.byref(kernel), self.module, name)
        parameters = (c.c_void_p * 1)(c.addressof(self.memory))
        need("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, None)

    def record(self) -> None:
        need("cuEventRecord", self.event, self.one)

    def wait(self) -> None:
        need("cuStreamWaitEvent", self.other, self.event, 0)


def run(order: str) -> int:
    program = Program(0 if order == "default_stream" else 1)  # 1: CU_STREAM_NON_BLOCKING
    one, other = program.one, program.other
    if order == "event_too_early":
        program.record()
    first = {"counts": b"counts", "reads": b"reads", "writes_after_a_read": b"reads"}.get(order, b"writes")
    second = {"counts": b"counts", "writes": b"writes", "writes_after_a_read": b"writes"}.get(order, b"reads")
    program.launch(first, one)
    if order == "event":
        program.record()
    if order in ("event", "event_too_early"):
        program.wait()
    if order == "synchronised":
        need("cuStreamSynchronize", one)
    if order == "event_synchronised":
        program.record()
        need("cuEventSynchronize", program.event)
    if order in ("copied", "copied_after_an_event"):
        if order == "copied_after_an_event":
            program.record()
            program.wait()
        room = c.create_string_buffer(4)
        need("cuMemcpyDtoHAsync_v2", room, program.memory, c.c_size_t(4), other)
        failed = _cuda.cuCtxSynchronize() != 0
        return int(failed or room.raw != b"\7\0\0\0")
    if order == "filled":
        need("cuMemsetD8Async", program.memory, c.c_ubyte(2), c.c_size_t(4), other)
        return int(_cuda.cuCtxSynchronize() != 0)
    if order == "one_stream":
        other = one
    if order == "default_stream":
        program.launch(b"counts", None)
    if order == "through_a_third":
        program.record()
        third = _stream(1)
        need("cuStreamWaitEvent", third, program.event, 0)
        program.launch(b"counts", third)
        need("cuEventRecord", program.event, third)
        program.wait()
    program.launch(second, other)
    return int(_cuda.cuCtxSynchronize() != 0)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1]))
