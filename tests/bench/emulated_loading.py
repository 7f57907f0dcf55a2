"""Run by topics/emulator.py in a process of its own. Prints how many milliseconds of the processor the emulated device took to begin, and
to load a module of 100,000 lines of PTX; of the latter the least of several."""

from __future__ import annotations

import ctypes
import json
import sys
import time
from pathlib import Path

LINES = 100_000
# A round of a loop as compilers write it: addresses, loads, products, a comparison, a store.
ROUND = """	mad.lo.s32 	%r3, %r1, 17, %r2;
	mul.wide.s32 	%rd3, %r3, 4;
	add.s64 	%rd4, %rd1, %rd3;
	ld.global.v4.f32 	{%f1, %f2, %f3, %f4}, [%rd4+16];
	fma.rn.f32 	%f5, %f1, %f2, %f5;
	mul.rn.f32 	%f6, %f3, 0f3FB8AA3B;
	.loc	1 25 13
	add.s32 	%r4, %r4, 1;
	setp.lt.s32 	%p1, %r4, 1024;
	selp.b32 	%r5, %r4, %r3, %p1;
	@%p1 st.global.f32 	[%rd4], %f6;
"""
FUNCTION = """
.visible .entry kernel_{number}(
	.param .u64 kernel_{number}_param_0,
	.param .u32 kernel_{number}_param_1
)
{{
	.reg .pred 	%p<4>;
	.reg .b32 	%r<16>;
	.reg .f32 	%f<16>;
	.reg .b64 	%rd<8>;
	ld.param.u64 	%rd1, [kernel_{number}_param_0];
	ld.param.u32 	%r1, [kernel_{number}_param_1];
	mov.u32 	%r2, %tid.x;
	mov.u32 	%r4, 0;
	mov.f32 	%f5, 0f00000000;
$L__BB{number}_1:
{body}	@%p1 bra 	$L__BB{number}_1;
	ret;
}}
"""


def make_ptx() -> str:
    rounds = 100
    each = FUNCTION.format(number=0, body=ROUND * rounds).count("\n")
    functions = [FUNCTION.format(number=n, body=ROUND * rounds) for n in range(LINES // each + 1)]
    return '.version 8.0\n.target sm_80\n.address_size 64\n.file 1 "kernels.cu"\n' + "".join(functions)


def main(library: Path, repetitions: int) -> None:
    begin = time.thread_time()
    driver = ctypes.CDLL(str(library))
    context, pointer = ctypes.c_void_p(), ctypes.c_uint64()

    def need(result: int, what: str) -> None:
        if result != 0:
            raise RuntimeError(f"{what}: error {result}")

    need(driver.cuInit(0), "cuInit")
    need(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), "cuDevicePrimaryCtxRetain")
    need(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    need(driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(4)), "cuMemAlloc")
    found = {"start of the device": 1000 * (time.thread_time() - begin)}
    image = make_ptx().encode()
    least = float("inf")
    for _ in range(repetitions):
        module = ctypes.c_void_p()
        begin = time.thread_time()
        need(driver.cuModuleLoadData(ctypes.byref(module), image), "cuModuleLoadData")
        least = min(least, 1000 * (time.thread_time() - begin))
        need(driver.cuModuleUnload(module), "cuModuleUnload")
    found["module of 100,000 lines of PTX"] = least
    print(json.dumps(found))


main(Path(sys.argv[1]), int(sys.argv[2]))
