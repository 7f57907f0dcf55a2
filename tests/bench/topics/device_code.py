"""Generated device code: against OpenCL written by hand with the same arithmetic, and how long NVRTC takes against nvcc."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kit import Kit
from report import Row

import build

GOAL_SPEED = 1.1
GOAL_COMPILE = 0.25
ROWS, WIDTH = 2048, 384
LAYER_NORM = f"""module "bench_layer_norm"
func layer_norm(x: f32[N, {WIDTH}], weight: f32[{WIDTH}], bias: f32[{WIDTH}]) -> (out: f32[N, {WIDTH}]) {{
  parallel i in 0..N {{
    let mean = reduce(+, j in 0..{WIDTH}, any 16, x[i, j]) / {WIDTH}.0
    let squares = reduce(+, j in 0..{WIDTH}, any 16, (x[i, j] - mean) * (x[i, j] - mean))
    let scale = 1.0 / sqrt(squares / {WIDTH}.0 + 1e-5)
    vectorized(16) j in 0..{WIDTH} {{ out[i, j] = (x[i, j] - mean) * scale * weight[j] + bias[j] }}
  }}
}}"""


def measure(kit: Kit) -> list[Row]:
    import kernpack_compiler

    rows = [_opencl(kit, kernpack_compiler)]
    if shutil.which("nvcc"):
        rows.append(_nvrtc(kit, kernpack_compiler))
    else:
        print("device_code: there is no nvcc on PATH to compare NVRTC with", file=sys.stderr)
    return rows


def _best(candidates: list[Callable[[], Any]], rounds: int) -> list[float]:
    """Nanoseconds of each, in turn."""
    best = [float("inf")] * len(candidates)
    for _ in range(rounds):
        for i, candidate in enumerate(candidates):
            start = time.perf_counter()
            candidate()
            best[i] = min(best[i], (time.perf_counter() - start) * 1e9)
    return best


def _opencl(kit: Kit, compiler: Any) -> Row:
    import kernpack
    import numpy as np

    device = next(iter(kernpack.devices("opencl")), None)
    if device is None:
        raise RuntimeError("there is no OpenCL device; kernpack.info() tells why")
    generated = compiler.build(LAYER_NORM, "opencl").layer_norm
    source = build.HERE / "ours" / "opencl_rows.cc"
    by_hand = kernpack.load(str(build.shared_object(source, "opencl_rows", kit.ours_flags))).layer_norm
    random = np.random.default_rng(0)
    arrays = [random.random(shape, dtype=np.float32) for shape in ((ROWS, WIDTH), WIDTH, WIDTH)]
    there = [kernpack.from_dlpack(array, device) for array in arrays]
    out = kernpack.empty((ROWS, WIDTH), "f32", device)
    stream = kernpack.current_stream(device)

    def call(function: Callable[..., Any]) -> None:
        function(*there, out=out)
        stream.sync()

    call(generated)
    first = out.to("cpu").numpy().copy()
    call(by_hand)
    if not np.allclose(first, out.to("cpu").numpy(), atol=1e-5):
        raise RuntimeError("the generated and the hand-written layer norm differ")
    ours, theirs = _best([lambda: call(generated), lambda: call(by_hand)], max(20, kit.repetitions))
    name = f"layer norm of {ROWS} x {WIDTH}, generated for OpenCL"
    return Row("device_code", name, ours, theirs, goal=GOAL_SPEED, peer="written by hand, same arithmetic")


def _open_nvrtc(path: str) -> Callable[[bytes], None]:
    """A function that compiles a program for sm_90, as the generator does."""
    if not path:
        raise RuntimeError("no NVRTC: pip install nvidia-cuda-nvrtc")
    for builtins in Path(path).parent.glob("libnvrtc-builtins.so*"):
        ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)
    nvrtc = ctypes.CDLL(path)
    options = (ctypes.c_char_p * 2)(b"--gpu-architecture=sm_90", b"--std=c++17")

    def compile_program(text: bytes) -> None:
        program = ctypes.c_void_p()
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"module.cu", 0, None, None)
        if nvrtc.nvrtcCompileProgram(program, 2, options):
            raise RuntimeError("NVRTC refused the program")
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))

    return compile_program


def _nvrtc(kit: Kit, compiler: Any) -> Row:
    """One module to machine code, processes and all."""
    module = compiler.ir.IRModule.parse(LAYER_NORM)
    target = compiler.Target("cuda -arch=sm_90")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "module.cu"
        program = compiler._native.source(module, target)
        file.write_text(program, encoding="utf-8")
        compile_here = _open_nvrtc(compiler._nvrtc.find())
        command = ["nvcc", "-std=c++17", "-arch=sm_90", "-cubin", "-o", str(file.with_suffix(".cubin")), str(file)]
        ours, theirs = _best(
            [lambda: compile_here(program.encode()), lambda: subprocess.run(command, check=True)],
            max(3, kit.repetitions // 12),
        )
    return Row(
        "device_code", "NVRTC, one module to machine code", ours / 1e6, theirs / 1e6, "ms", GOAL_COMPILE, peer="nvcc"
    )
