"""Kernels that nvcc compiles and `<<<>>>` launches, as authors write them, on the emulated device."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.emulated import run_emulated

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(
    shutil.which("nvcc") is None, reason="no nvcc: install NVIDIA's CUDA toolkit, or nvidia-cuda-nvcc from PyPI"
)
ERRORS = {
    "too_many_threads": "cudaGetLastError(): cudaErrorInvalidConfiguration: invalid configuration argument",
    "too_much_shared": "cudaErrorInvalidValue",
    "no_symbol": "cudaErrorInvalidSymbol: invalid device symbol: nothing that nvcc compiled has registered it",
    "no_device": "cudaErrorInvalidDevice",
    "out_of_memory": "cudaErrorMemoryAllocation: out of memory",
}


def _run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return run_emulated(HERE / "call_runtime.py", *words, devices="sm_90,sm_80", **variables)


@pytest.fixture(scope="module")
def called() -> dict[str, list[Any]]:
    """Of each op, what it gave on each device."""
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    ops = ["table", "memory", "shared", "sizes", *ERRORS, "last_error_is_gone", "past_the_end"]
    done = _run(*ops)
    assert done.returncode == 0, done.stderr
    return dict(zip(ops, map(json.loads, done.stdout.splitlines()), strict=True))


def test_launches_constants_and_variables(called: dict[str, list[Any]]) -> None:
    expected = [i + [1, 2, 3, 4][i % 4] for i in range(10)]
    assert called["table"] == [expected, expected]


def test_memory_streams_and_events(called: dict[str, list[Any]]) -> None:
    assert called["memory"] == [list(range(10)), list(range(10))]


def test_properties_and_occupancy_of_the_device(called: dict[str, list[Any]]) -> None:
    """NVIDIA's numbers for an H100 and an A100; registers don't limit an emulated device."""
    most = 2147483648.0  # the largest grid, as a float
    assert called["sizes"] == [
        [90.0, 32.0, 2048.0, 227.0, most, 8.0, 2.0, 2.0, 1024.0, 56.0],
        [80.0, 32.0, 2048.0, 163.0, most, 8.0, 2.0, 2.0, 1024.0, 40.0],
    ]


def test_shared_memory_beyond_48_kib(called: dict[str, list[Any]]) -> None:
    assert called["shared"] == called["table"]


@pytest.mark.parametrize("op", ERRORS)
def test_an_error_has_nvidias_name(called: dict[str, list[Any]], op: str) -> None:
    for said in called[op]:
        assert said.startswith(f"RuntimeError: {op}: ")
        assert ERRORS[op] in said


def test_a_reported_error_is_not_the_next_calls(called: dict[str, list[Any]]) -> None:
    assert not any(isinstance(each, str) for each in called["last_error_is_gone"]), called["last_error_is_gone"]


def test_what_a_kernel_does_wrong_is_found(called: dict[str, list[Any]]) -> None:
    said = called["past_the_end"][0]
    for part in ("block (0, 0, 0), thread (10, 0, 0), PTX line", "ld.global.f32 reads 4 bytes", "of 40 bytes, which"):
        assert part in said


def test_without_the_library_nothing_is_built(tmp_path: Path) -> None:
    missing = tmp_path / "libkernpack_cuda_emulator.so"
    done = _run("table", KERNPACK_CUDA_DRIVER=str(missing))
    assert done.returncode == 1
    assert f"the emulated device's library isn't there: looked for {missing}" in done.stderr
    assert "pip install kernpack-cuda-emulator, or unset KERNPACK_EMULATOR" in done.stderr
