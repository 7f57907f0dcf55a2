"""The pack's kernels for sm_90, which nothing but the emulated device runs in CI. tests/python/cuda_pack has more of them, each week."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.emulated import need_nvcc, run_emulated
from support.pack_code import KERNELS, compile_for_sm90

HERE = Path(__file__).parent


def _run(script: str, folder: Path, variable: str) -> list[list[str]]:
    """The words that the script prints, in two orders of warps."""
    printed = []
    for seed in ("0", "7"):
        variables = {variable: "wgmma", "KERNPACK_EMULATOR_SEED": seed}
        done = run_emulated(HERE / script, str(HERE.parents[1]), str(folder), **variables)
        assert done.returncode == 0, done.stdout + done.stderr[-3000:]
        printed.append(done.stdout.split())
    return printed


def test_attention_with_wgmma_and_tensor_maps_is_right(tmp_path: Path) -> None:
    need_nvcc(tmp_path, "cuda_fp16.h", "CUDA headers", "nvidia-cuda-runtime")
    compile_for_sm90(KERNELS / "attention/cuda/attention_sm90.cu", tmp_path)
    assert _run("attention_sm90.py", tmp_path, "KERNPACK_CUDA_ATTENTION") == [["8", "attention_sm90_f16_64"]] * 2


def test_products_with_packed_weights_by_wgmma_are_right(tmp_path: Path) -> None:
    need_nvcc(tmp_path, "cuda_fp16.h", "CUDA headers", "nvidia-cuda-runtime")
    pytest.importorskip("kernpack_kernels", reason="the wheel kernpack-kernels packs the weights")
    source = KERNELS / "linear/cuda/packed_linear_sm90.cu"
    compile_for_sm90(source, tmp_path, without="KK_PACKED_LINEARS_SM90(bf16, __nv_bfloat16)")
    expected = ["packed_linear_sm90_64_f16", "packed_linear_sm90_128_f16"]
    assert _run("packed_linear_sm90.py", tmp_path, "KERNPACK_CUDA_PACKED_LINEAR") == [expected] * 2
