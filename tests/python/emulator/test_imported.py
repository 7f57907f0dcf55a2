"""Kernels of other compilers, on the emulated device."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from emulated import run
from support.emulated import without_emulator

pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
kc = pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")

if "llvm" not in kc.list_generators():
    pytest.skip("LLVM makes the functions that launch imported kernels", allow_module_level=True)

PROGRAM = Path(__file__).with_name("imported.py")


def _lines(*arguments: str | Path, **variables: str) -> list[str]:
    done = run(PROGRAM, *arguments, **{"KERNPACK_EMULATOR": "sm_80", **variables})
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.mark.parametrize("seed", ["0", "17"])
def test_results_are_right_in_every_order_of_warps(seed: str) -> None:
    assert _lines("call", KERNPACK_EMULATOR_SEED=seed) == []


def test_arguments_are_checked_as_those_of_any_function() -> None:
    on_cpu, dtype, _, scalar, many = _lines("refuse")
    assert on_cpu.startswith("RuntimeError normalise: ")
    assert "compute_80" in on_cpu
    assert dtype.startswith("TypeError normalise: x: expected dtype f32, got f64")
    assert scalar.startswith("TypeError normalise: k: expected float, got str")
    assert many.startswith("TypeError normalise() takes 2 positional arguments but 3 were given")


def test_launches_that_no_device_takes_are_named() -> None:
    zero, grid, block, shared, narrow = _lines("extents")
    assert zero == "ValueError normalise: grid.x: expected at least 1, got 0 (R - 2)"
    assert "expected a grid of at most 65535 blocks along dimension 1, got 80000" in grid
    assert "expected a block of at least (1, 1, 1) and at most (1024, 1024, 64) threads, got (1280, 1, 1)" in block
    assert shared == "ValueError normalise: shared: expected at least 0 and less than 2^31 bytes, got -72"
    assert narrow == "narrow: N << 33: expected a number that fits 32 bits, which the kernel takes, got 25769803776"


def test_the_kernel_is_chosen_by_conditions_and_by_what_is_a_multiple_of_16() -> None:
    assert _lines("choose") == ["add: none of its configurations is for these sizes"]


def test_code_for_another_architecture_is_named() -> None:
    cubin, ptx = _lines("other_device")
    assert "no variant runs on cuda:0 (cuda -arch=sm_90: the emulated device runs PTX only" in cubin
    assert "no variant runs on cuda:0 (cuda -arch=compute_90: the device is sm_80)" in ptx


def test_a_workspace_has_the_bytes_that_were_asked_for() -> None:
    fits, outside = _lines("workspace")
    assert fits == "inside"
    assert "st.global.f32 writes 4 bytes" in outside


ON_CPU = """module "rows" target "llvm"
func normalise(x: f32[R, N], k: f64) -> (y: f32[R, N]) signature "(x: f32[R, N], k: float = 1.0) -> (y: f32[R, N])" {
  for i in 0..R {
    let total = reduce(+, j in 0..N, sequential, x[i, j])
    for j in 0..N { y[i, j] = x[i, j] / total * f32(k) }
  }
}"""


def test_one_wheel_has_a_variant_for_the_processor_and_an_imported_one(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("jax", reason="jax is not installed")
    on_cpu = kc.build(ON_CPU)
    imported = kc.import_kernel(
        PROGRAM.parents[1] / "compiler" / "rows.ptx", "(x: f32[R, N], k: float = 1.0) -> (y: f32[R, N])",
        entry="normalise", args=["x", "y", "N", "k"], grid="R", block=32, shared=128,
    )  # fmt: skip
    wheel = kc.export_wheel([on_cpu, imported], tmp_path, "rows-of-two", "1.0.0")
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    assert sorted(p.name for p in (site / "rows_of_two").glob("*.so")) == ["rows_of_two.so", "rows_of_two_1.so"]
    assert _lines("frameworks", "rows_of_two", PYTHONPATH=":".join([str(site), *sys.path])) == []


def test_kernpack_bench_waits_for_the_device() -> None:
    assert _lines("waits") == []


def test_configurations_are_measured_by_kernpack_bench(tmp_path: Path) -> None:
    pytest.importorskip("kernpack_sdk", reason="the wheel kernpack-sdk is not installed")
    from kernpack_compiler._imports._configs import read_measured

    cases = PROGRAM.with_name("measured_configs.py")
    command = [sys.executable, "-m", "kernpack_sdk", "bench", cases, "--json", "--seconds", "0.02"]
    variables = {**without_emulator(), "KERNPACK_EMULATOR": "sm_80"}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    left_out = '{"when": "N <= 32", "constants": {"BYTES": 1000000000}, "num_warps": 1}: left out: '
    assert left_out in done.stderr
    file = tmp_path / "configs.json"
    file.write_text(done.stdout)
    assert len(json.loads(done.stdout)) == 4
    first, always = read_measured(file, "test")
    assert first["when"] == "N <= 32"
    assert "when" not in always
    assert always["constants"]["BYTES"] in (0, 1024)
