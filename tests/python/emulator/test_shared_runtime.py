"""A program that nvcc links to libcudart.so, on the emulated device: ours takes the place of NVIDIA's."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.emulated import without_emulator

pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
pytestmark = pytest.mark.skipif(
    shutil.which("nvcc") is None, reason="no nvcc: install NVIDIA's CUDA toolkit, or nvidia-cuda-nvcc from PyPI"
)
describe = pytest.importorskip("kernpack_cuda_emulator.report").describe
SOURCE = Path(__file__).with_name("shared_runtime.cu")

REFUSED = r"""
#include <cstdio>
#include <cstring>
__global__ void k(unsigned* out) {
  unsigned at;
  asm volatile("mov.u32 %0, %%reserved_smem_offset_1;" : "=r"(at));
  *out = at;
}
int main(int, char** words) {
  k<<<1, 1>>>(nullptr);
  k<<<1, 1>>>(nullptr);
  if (std::strcmp(words[1], "asks") == 0) std::puts(cudaGetErrorString(cudaGetLastError()));
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("shared") / "program"
    subprocess.run(
        ["nvcc", "-std=c++17", "-arch=compute_80", "-lineinfo", "-cudart", "shared", "-o", built, SOURCE],
        check=True, timeout=600,
    )  # fmt: skip
    return built


def _run(program: Path, part: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kernpack_cuda_emulator", "run", "--device", "sm_90,sm_80", *words, "--", program, part],
        env=without_emulator(), capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


@pytest.mark.parametrize("part", ["launches", "rows", "memory", "graphs", "devices", "managed", "polls"])
def test_a_part_of_the_library(program: Path, part: str) -> None:
    done = _run(program, part)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{part}: done\n", "")


def test_an_error_of_a_kernel_has_its_line(program: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = _run(program, "bounds", "--report", report)
    assert done.returncode == 1
    number = _line_of("values[i] += by")
    assert "cudaErrorIllegalAddress: an illegal memory access was encountered: kernel" in done.stdout
    (finding,) = json.loads(report.read_text())["findings"]
    assert (finding["kind"], finding["thread"], finding["line"]) == ("address", [31, 0, 0], number)
    assert Path(finding["file"]).name == SOURCE.name


def _line_of(words: str) -> int:
    return next(n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if words in line)


def test_an_error_in_an_inlined_function_has_the_line_of_its_call(program: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = _run(program, "inlined", "--report", report)
    read, call = _line_of("return values[i]"), _line_of("Get(values, threadIdx.x + by)")
    assert done.returncode == 1
    assert f"{SOURCE.name}:{read}, inlined at " in done.stdout
    assert f"{SOURCE.name}:{call}): ld.global" in done.stdout
    (finding,) = json.loads(report.read_text())["findings"]
    assert [(Path(at["file"]).name, at["line"]) for at in finding["inlined_at"]] == [(SOURCE.name, call)]
    told = describe(finding)
    assert f"\n> {read:>5}  __device__ int Get(" in told
    assert f"\n> {call:>5}  __global__ void Shift(" in told


def test_a_function_that_is_missing_says_its_name_once(program: Path) -> None:
    done = _run(program, "missing")
    assert (done.returncode, done.stdout) == (0, "missing: done\n")
    assert done.stderr == (
        "kernpack_cuda_emulator: cudaDestroyExternalMemory was called, and the emulated device doesn't have it; the call returned 801, "
        "not supported\n"
    )


def test_a_program_that_asks_for_no_error_hears_why_its_code_was_refused(tmp_path: Path) -> None:
    (tmp_path / "refused.cu").write_text(REFUSED)
    built = tmp_path / "refused"
    subprocess.run(
        ["nvcc", "-arch=compute_80", "-cudart", "shared", "-o", built, built.with_suffix(".cu")],
        check=True,
        timeout=600,
    )
    why = "reads %reserved_smem_offset_1, which isn't emulated"
    done = _run(built, "goes on")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("kernpack_cuda_emulator: emulator: PTX line ")
    assert done.stderr.count(why) == done.stderr.count("\n") == 1
    done = _run(built, "asks")
    assert (done.returncode, done.stderr) == (0, "")
    assert why in done.stdout
