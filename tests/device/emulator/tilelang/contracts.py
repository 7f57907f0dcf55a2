"""A module that TileLang exports, with a contract: its functions are checked, allocate their results and run on the emulated device.

`contracts.py make FOLDER` needs TileLang and NVRTC. `contracts.py call FOLDER` runs under `kernpack_cuda_emulator run`, and needs
TileLang's runtime, which every process that loads such a module needs.
"""

# ruff: noqa: N803, N806 (TileLang's names)
import ctypes
import sys
from pathlib import Path

import numpy as np
import pytest

CONTRACTS = """
[scale]
contract = '(x: f32[R, 128], k: float = 2.0) -> (y: f32[R, 128]) with on "cuda"'
calls = "main_scale"
args = ["x", "y", "k"]
doc = "x * k"
"""


def make(folder: Path) -> None:
    import tilelang
    import tilelang.language as T  # noqa: N812
    from kernpack_compiler._imports._compile_cuda import compile_cuda, header_folders
    from tilelang import env
    from tilelang.cache.cuda_binary_cache import CUDABinaryCache
    from tilelang.contrib import nvcc

    def ptx(code: str, *_: object, **__: object) -> bytearray:
        """In place of nvcc's machine code, which the emulated device doesn't run. TVM takes what begins as PTX does for PTX."""
        folders = [env.TILELANG_TEMPLATE_PATH, env.CUTLASS_INCLUDE_DIR, *header_folders("contracts.py")]
        options = ["-default-device", "-std=c++20", "-w", *(f"-I{folder}" for folder in folders)]
        source = f"#include <tl_templates/cuda/nvrtc_std.h>\n{code}"
        return bytearray(b"//\n" + compile_cuda(source, "compute_80", options, "contracts.py"))

    nvcc.compile_cuda = ptx
    CUDABinaryCache.load = staticmethod(lambda *_: None)
    CUDABinaryCache.save = staticmethod(lambda *_: None)
    tilelang.disable_cache()
    R = T.dynamic("R")

    @T.prim_func
    def main_scale(A: T.Tensor((R, 128), "float32"), C: T.Tensor((R, 128), "float32"), k: T.float32):
        with T.Kernel(R, threads=128) as b:
            for j in T.Parallel(128):
                C[b, j] = A[b, j] * k

    target = {"kind": "cuda", "arch": "sm_80"}
    tilelang.compile(main_scale, target=target, execution_backend="tvm_ffi").export_library(str(folder / "scale.so"))
    (folder / "scale.toml").write_text(CONTRACTS)


def call(folder: Path) -> None:
    import kernpack_cuda_emulator

    # TileLang finds the CUDA runtime among the symbols of the process.
    ctypes.CDLL(str(kernpack_cuda_emulator.LIBRARY), mode=ctypes.RTLD_GLOBAL)
    import tilelang

    ctypes.CDLL(str(Path(tilelang.__file__).parent / "lib" / "libtvm_runtime.so"), mode=ctypes.RTLD_GLOBAL)
    import kernpack

    k = kernpack.load(folder / "scale.so", contracts=folder / "scale.toml")
    for rows in (1, 70):
        x = np.random.default_rng(0).standard_normal((rows, 128)).astype(np.float32)
        on_device = kernpack.from_dlpack(x).to("cuda")
        np.testing.assert_array_equal(np.from_dlpack(k.scale(on_device).to("cpu")), 2 * x)
        np.testing.assert_array_equal(np.from_dlpack(k.scale(on_device, -1.0).to("cpu")), -x)
    with pytest.raises(ValueError, match=r"scale: x: expected shape \[R, 128\], got \[2, 127\]"):
        k.scale(kernpack.zeros((2, 127), "f32", "cuda"))
    with pytest.raises(TypeError, match="scale: x: expected dtype f32, got f16"):
        k.scale(kernpack.zeros((2, 128), "f16", "cuda"))
    print("equal, and no alarm")


{"make": make, "call": call}[sys.argv[1]](Path(sys.argv[2]))
