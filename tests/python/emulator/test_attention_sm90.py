"""The pack's attention for sm_90, which nothing but the emulated device runs in CI. tests/python/cuda_pack has more of it, each week."""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.emulated import need_nvcc, run_emulated

HERE = Path(__file__).parent
KERNELS = HERE.parents[2] / "kernels"


def compile_attention(folder: Path) -> None:
    need_nvcc(folder, "cuda_fp16.h", "CUDA headers", "nvidia-cuda-runtime")
    source, out = KERNELS / "attention/cuda/attention_sm90.cu", folder / "attention_sm90.fatbin"
    code = "-gencode=arch=compute_90a,code=compute_90a"
    subprocess.run(["nvcc", "-std=c++17", "-O3", "-fatbin", code, f"-I{KERNELS}", source, "-o", out], check=True)


def test_attention_with_wgmma_and_tensor_maps_is_right(tmp_path: Path) -> None:
    compile_attention(tmp_path)
    for seed in ("0", "7"):
        done = run_emulated(
            HERE / "attention_sm90.py",
            str(KERNELS),
            str(tmp_path),
            KERNPACK_CUDA_ATTENTION="wgmma",
            KERNPACK_EMULATOR_SEED=seed,
        )
        assert done.returncode == 0, done.stdout + done.stderr[-3000:]
        assert done.stdout.split() == ["8", "attention_sm90_f16_64"]
