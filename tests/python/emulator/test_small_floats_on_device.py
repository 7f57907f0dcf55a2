"""kp::half, kp::bfloat16, the float8 types and kp::Span in device code: by nvcc on the emulated device, and compiled by NVRTC."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import shutil
from pathlib import Path

import pytest
from support.emulated import run_emulated
from support.host import INCLUDE

HERE = Path(__file__).parent
# Each type as NVRTC's users have it, without the C++ library.
SOURCE = """
#include <kernpack/cuda_types.h>
#include <kernpack/float8.h>
namespace kp = kernpack;
template <class T>
__device__ T step(T a, T b, float f, long long n) {
  a += b * f;
  a = a * n - 1;
  if (isnan(a) || a > b) a = cuda::std::numeric_limits<T>::lowest();
  return T(expf(a));
}
extern "C" __global__ void steps(kp::half* h, kp::bfloat16* b, kp::float8_e4m3fn* e, kp::float8_e5m2* g, __half* t) {
  constexpr kp::half third = 1.0 / 3;
  h[0] = step(h[0], third, 2.0f, 3);
  b[0] = step(b[0], b[1], 2.0f, 3);
  e[0] = step(e[0], e[1], 2.0f, 3);
  g[0] = step(g[0], g[1], 2.0f, 3);
  t[0] = __hadd(t[1], kp::half(kp::half(t[2]) + 1));
}
"""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc: the CUDA toolkit is not installed")
def test_every_value_is_the_number_that_numpy_has() -> None:
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    done = run_emulated(HERE / "call_small_floats.py", devices="sm_90,sm_75")  # with cvt.rn.bf16.f32, and without
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == 2
    for found in lines:
        for name, wrong in found.items():
            assert not any(wrong.values()), (name, wrong)


def test_nvrtc_compiles_them_without_a_warning(nvrtc: None) -> None:
    import kernpack_compiler as kc

    toolkit = importlib.util.find_spec("nvidia.cu13")
    include = Path(next(iter(toolkit.submodule_search_locations or [""]))) / "include" if toolkit else Path()
    if not (include / "cccl" / "cuda" / "std").is_dir():
        pytest.skip("no headers of CUDA's C++ library: pip install nvidia-cuda-cccl")
    library = ctypes.CDLL(str(kc._nvrtc.find()))
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    library.nvrtcCreateProgram(ctypes.byref(program), SOURCE.encode(), b"steps.cu", 0, None, None)
    folders = [f"-I{folder}" for folder in (INCLUDE, include, include / "cccl")]
    options = [option.encode() for option in (*folders, "-std=c++17", "-arch=sm_90")]
    status = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    assert (status, log.value) == (0, b"")
