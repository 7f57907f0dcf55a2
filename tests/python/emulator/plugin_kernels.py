"""Kernels in PTX with line information, launched through libcuda.so.1 as any program would; for plugin_cases.py."""

from __future__ import annotations

import ctypes as c
from pathlib import Path
from typing import Any

# file 1 is this one; `.loc 1 N` is the line N of it.
_PTX = """.version 8.0
.target sm_80
.address_size 64
.file 1 "{file}"
.visible .entry {name}(.param .u64 p) {{
 .reg .u32 %r<4>; .reg .u64 %d<4>; .reg .pred %p;
 .shared .align 4 .b8 s[1024];
 ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x;
 .loc 1 {line} 0
 {body}
 ret; }}
"""
BODIES = {
    "right": "mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r1;",
    "race": "st.shared.u32 [s], %r1;",
    "bounds": "st.global.u32 [%d1+4096], %r1;",
    "unwritten": "ld.global.u32 %r2, [%d1]; st.global.u32 [%d1], %r2;",
    "barrier": "setp.lt.u32 %p, %r1, 16; @%p bar.sync 0; @!%p bar.sync 1;",
}
LINE = next(
    n
    for n, text in enumerate(Path(__file__).read_text(encoding="utf-8").splitlines(), 1)
    if text.startswith("BODIES = ")
)


def driver() -> Any:
    return c.CDLL("libcuda.so.1")


def check(result: int) -> None:
    if result != 0:
        text = c.c_char_p()
        driver().cuGetErrorString(result, c.byref(text))
        raise RuntimeError((text.value or b"unknown").decode())


class Device:
    """The first device, with 64 threads' worth of memory, and modules that stay loaded."""

    def __init__(self) -> None:
        cuda, device, context, self.memory = driver(), c.c_int(), c.c_void_p(), c.c_uint64()
        check(cuda.cuInit(0))
        check(cuda.cuDeviceGet(c.byref(device), 0))
        check(cuda.cuDevicePrimaryCtxRetain(c.byref(context), device))
        check(cuda.cuCtxSetCurrent(context))
        check(cuda.cuMemAlloc_v2(c.byref(self.memory), c.c_size_t(256)))
        self.kernels: dict[str, c.c_void_p] = {}

    def launch(self, name: str) -> None:
        """Queues the kernel; it runs when something waits for it."""
        if name not in self.kernels:
            module, kernel = c.c_void_p(), c.c_void_p()
            ptx = _PTX.format(file=__file__, name=name, line=LINE, body=BODIES[name])
            check(driver().cuModuleLoadData(c.byref(module), ptx.encode()))
            check(driver().cuModuleGetFunction(c.byref(kernel), module, name.encode()))
            self.kernels[name] = kernel
        arguments = (c.c_void_p * 1)(c.addressof(self.memory))
        check(driver().cuLaunchKernel(self.kernels[name], 1, 1, 1, 64, 1, 1, 0, None, arguments, None))

    def values(self) -> list[int]:
        host = (c.c_uint32 * 64)()
        check(driver().cuMemcpyDtoH_v2(host, self.memory, c.c_size_t(256)))
        return list(host)
