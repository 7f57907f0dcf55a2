"""The code in the pack, read and not run."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_the_emulated_device_runs_every_instruction_of_it(pack: Path) -> None:
    emulator = pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    found = emulator.survey(pack / "kernpack_kernels_cuda.so")
    assert [code.error for code in found if code.error] == []
    assert [refusal for code in found for refusal in code.refused] == []
    assert sum(len(code.kernels) for code in found) > 200
