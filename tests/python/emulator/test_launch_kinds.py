"""Launches of imported kernels that hand over more than arguments: tensor maps, and blocks that wait for each other."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from emulated import run

emulator = pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
kc = pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")

if "llvm" not in kc.list_generators():
    pytest.skip("LLVM makes the functions that launch imported kernels", allow_module_level=True)

PROGRAM = Path(__file__).with_name("launch_kinds.py")
RECORDING = Path(__file__).parents[2] / "device" / "cuda" / "recording_driver.c"


def test_a_tensor_map_is_encoded_from_the_tensor(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("the recording driver needs a C compiler")
    driver = tmp_path / "librecording.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", driver, RECORDING, "-ldl"], check=True)
    emulated = Path(emulator.__file__).with_name("libkernpack_cuda_emulator.so")
    done = run(PROGRAM, "maps", KERNPACK_CUDA_DRIVER=str(driver), KP_RECORDED_DRIVER=str(emulated))
    assert done.returncode == 0, done.stderr[-3000:]
    shown, misaligned, stride = done.stdout.splitlines()
    words = [int(word) for word in shown.split()]
    assert words[0] == 7 | 3 << 32  # f32, 3 dims
    assert words[1] & 0xFFFF == 1 << 4 | 2 << 8 | 1 << 12  # swizzled over 32 bytes, 128 bytes into L2, NaN
    assert words[2] != 0
    assert words[2] % 16 == 0
    assert words[3:8] == [8, 6, 5, 0, 0]
    assert words[8:12] == [32, 192, 0, 0]
    assert words[12] == 8 | 3 << 16 | 2 << 32
    assert words[14] == 0x010101
    assert (
        "kernel show: tensor 'x': expected an address that is a multiple of 16, which TMA needs, got 0x" in misaligned
    )
    assert "tensor 'x': dim 1: expected a stride that is a multiple of 16 bytes and less than 2^40" in stride
    assert "got 20; pad the dims inside of it" in stride


def test_blocks_of_a_cooperative_launch_wait_for_each_other() -> None:
    done = run(PROGRAM, "cooperative", KERNPACK_EMULATOR="sm_80")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE" in done.stdout
    assert "while launching the kernel meet cooperatively with grid (10000, 1, 1)" in done.stdout
    assert "run at the same time; use a smaller grid" in done.stdout
