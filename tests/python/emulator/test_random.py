"""kernpack/random.h in a CUDA kernel."""

from __future__ import annotations

from pathlib import Path

from support.emulated import need_nvcc, run_lines


def test_a_key_gives_the_same_numbers_on_a_device_and_on_the_cpu(tmp_path: Path) -> None:
    need_nvcc(tmp_path, "cuda_runtime.h", "runtime library", "nvidia-cuda-runtime")
    assert run_lines(Path(__file__).with_name("call_random.py"), devices="sm_90") == ["400"]
