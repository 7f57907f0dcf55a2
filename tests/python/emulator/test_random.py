"""kernpack/random.h in a CUDA kernel."""

from __future__ import annotations

from pathlib import Path

from support.emulated import lines_of, need_nvcc


def test_a_key_gives_the_same_numbers_on_a_device_and_on_the_cpu(tmp_path: Path) -> None:
    need_nvcc(tmp_path, "cuda_runtime.h", "runtime library", "nvidia-cuda-runtime")
    assert lines_of(Path(__file__).with_name("call_random.py"), devices="sm_90") == ["400"]
