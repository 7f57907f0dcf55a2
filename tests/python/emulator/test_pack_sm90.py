"""The pack's second kernels, which a variable chooses, and which no GPU has run. tests/python/cuda_pack has more of them, each week."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.emulated import need_nvcc, run_emulated
from support.pack_code import KERNELS, compile_kernel

HERE = Path(__file__).parent


def _run(script: str, folder: Path, variable: str, value: str = "wgmma", seeds: str = "07") -> list[list[str]]:
    """The words that the script prints, for each order of warps."""
    printed = []
    for seed in seeds:
        variables = {variable: value, "KERNPACK_EMULATOR_SEED": seed}
        done = run_emulated(HERE / script, str(HERE.parents[1]), str(folder), **variables)
        assert done.returncode == 0, done.stdout + done.stderr[-3000:]
        printed.append(done.stdout.split())
    return printed


def test_attention_with_wgmma_and_tensor_maps_is_right(tmp_path: Path) -> None:
    need_nvcc(tmp_path, "cuda_fp16.h", "CUDA headers", "nvidia-cuda-runtime")
    compile_kernel(KERNELS / "attention/cuda/attention_sm90.cu", tmp_path)
    assert _run("attention_sm90.py", tmp_path, "KERNPACK_CUDA_ATTENTION") == [["8", "attention_sm90_f16_64"]] * 2


def test_products_with_packed_weights_by_wgmma_are_right(tmp_path: Path) -> None:
    need_nvcc(tmp_path, "cuda_fp16.h", "CUDA headers", "nvidia-cuda-runtime")
    pytest.importorskip("kernpack_kernels", reason="the wheel kernpack-kernels packs the weights")
    source = KERNELS / "linear/cuda/packed_linear_sm90.cu"
    compile_kernel(source, tmp_path, without=["KK_PACKED_LINEARS_SM90(bf16, __nv_bfloat16)"])
    expected = ["packed_linear_sm90_64_f16", "packed_linear_sm90_128_f16"]
    assert _run("packed_linear_sm90.py", tmp_path, "KERNPACK_CUDA_PACKED_LINEAR", seeds="7") == [expected]


def test_sampling_by_rejection_has_the_right_distribution(tmp_path: Path) -> None:
    need_nvcc(tmp_path, "cuda_fp16.h", "CUDA headers", "nvidia-cuda-runtime")
    others = [f"KK_SAMPLE_REJECTION({name}, {t})" for name, t in (("f16", "__half"), ("bf16", "__nv_bfloat16"))]
    compile_kernel(KERNELS / "sampling/cuda/sample_rejection.cu", tmp_path, without=others)
    printed = _run("sampling_by_rejection.py", tmp_path, "KERNPACK_CUDA_SAMPLE", "rejection", "5")
    assert printed == [["sample_rejection_f32"]]
