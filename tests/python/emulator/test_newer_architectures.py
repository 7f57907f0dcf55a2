"""Generated code and imported kernels in their forms for sm_90 and sm_100, on emulated devices of these architectures."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.emulated import need_nvcc, run_emulated
from support.pack_code import KERNELS

SOURCE = Path(__file__).with_name("newer_architectures.cu")
FORMS = {"90": "cp.async.bulk.shared::cluster", "100": "fma.rn.f32x2"}


@pytest.mark.parametrize("arch", FORMS)
def test_code_for_the_architecture_alone_is_right(tmp_path: Path, arch: str) -> None:
    need_nvcc(tmp_path, "cuda_fp16.h", "CUDA headers", "nvidia-cuda-runtime")
    kc = pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
    if not kc._nvrtc.find() or not {"cuda", "llvm"} <= set(kc.list_generators()):
        pytest.skip("generated code needs nvidia-cuda-nvrtc, and imported kernels LLVM")
    ptx = tmp_path / "newer.ptx"
    command = ["nvcc", "-std=c++17", "-ptx", f"-arch=compute_{arch}", f"-I{KERNELS}", SOURCE, "-o", ptx]
    subprocess.run(command, check=True)
    assert FORMS[arch] in ptx.read_text()
    done = run_emulated(SOURCE.with_suffix(".py"), arch, str(ptx), devices=f"sm_{arch}")
    assert (done.stdout, done.returncode) == ("agrees\n", 0), done.stderr[-3000:]
