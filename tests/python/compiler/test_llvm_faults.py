"""Rewrites that were wrong in LLVM once, by NVRTC on the emulated device and by the kind llvm."""

from __future__ import annotations

from pathlib import Path

import kernpack_compiler as kc
import pytest
from llvm_faults import FAULTS, differing
from support.emulated import run_lines


def test_there_are_thirty_at_least() -> None:
    assert len({fault.rewrite for fault in FAULTS}) == len({fault.value for fault in FAULTS}) == len(FAULTS) >= 30


def test_llvm_gives_what_the_interpreter_does() -> None:
    if "llvm" not in kc.list_generators():
        pytest.skip("this kernpack_compiler has no generator of kind llvm")
    assert not differing("llvm", "cpu")


def test_nvrtc_gives_what_the_interpreter_does() -> None:
    if not kc._nvrtc.find() or "cuda" not in kc.list_generators():
        pytest.skip("no nvidia-cuda-nvrtc is installed")
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    lines = run_lines(Path(__file__).parent / "llvm_faults.py")
    assert lines[0] == "cuda -arch=compute_80"
