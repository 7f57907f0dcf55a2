"""Run by topics/jit.py in a process of its own: the nanoseconds of a function's first call, or of NVRTC alone.

`jit_calls.py MODULE FUNCTION` on the emulated device; `jit_calls.py NVRTC SOURCE ARCH [PTX]` opens NVRTC and compiles, and writes the PTX.
"""

from __future__ import annotations

import ctypes
import sys
import time
from pathlib import Path


def first_call(module: str, function: str) -> int:
    import kernpack
    import numpy as np

    call = getattr(kernpack.load(module), function)
    x = kernpack.from_dlpack(np.ones((4, 32), np.float32)).to("cuda")
    stream = kernpack.current_stream(kernpack.device("cuda"))
    start = time.perf_counter_ns()
    out = call(x)
    stream.sync()
    took = time.perf_counter_ns() - start
    assert abs(float(np.from_dlpack(out.to("cpu")).sum()) - 4) < 1e-5
    return took


def compile_alone(library: str, source: str, arch: str, ptx: str | None = None) -> int:
    text = Path(source).read_bytes()
    start = time.perf_counter_ns()
    for builtins in Path(library).parent.glob("libnvrtc-builtins.so*"):
        ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)
    nvrtc = ctypes.CDLL(library)
    options = (ctypes.c_char_p * 2)(f"--gpu-architecture={arch}".encode(), b"--std=c++17")
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"jit_rows.cu", 0, None, None)
    if nvrtc.nvrtcCompileProgram(program, 2, options):
        raise RuntimeError("NVRTC refused the program")
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    made = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, made)
    took = time.perf_counter_ns() - start
    if ptx:
        Path(ptx).write_bytes(made.raw.rstrip(b"\0"))
    return took


print((first_call if len(sys.argv) == 3 else compile_alone)(*sys.argv[1:]))
