"""`kernpack test --emulate`: kernels for CUDA on the emulated device, some with a mistake that only the device has."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kernpack
import pytest
from kernpack_sdk.testing import command, kernpack_cases

CHECKS = ["--check", "calls", "--check", "cuda", "--check", "rows", "--check", "graph"]


@pytest.fixture(scope="session")
def emulator() -> None:
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kernpack_sdk", "test", *words], capture_output=True, text=True, check=False, timeout=300
    )


@pytest.fixture(scope="module")
def results(emulator: None, compiled: Callable[[str], str]) -> dict[tuple[str, str], dict[str, Any]]:
    done = _run(compiled("on_device.cc"), "--emulate", "--json", *CHECKS)
    assert done.returncode == command.FAILED, done.stderr
    return {(each["op"], each["check"]): each for each in json.loads(done.stdout)["results"]}


def test_what_the_device_counted_is_written(
    emulator: None, compiled: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNPACK_EMULATOR_COUNTS", str(tmp_path / "counts-%p.json"))
    done = _run(compiled("on_device.cc"), "--emulate", "--op", "on_both", "--check", "cuda")
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = tmp_path.iterdir()
    kernels = json.loads(file.read_text())["kernels"]
    assert sum(each["launches"] for each in kernels) > 1
    assert all(each["touched"]["written"] > 0 for each in kernels)


@pytest.mark.parametrize("op", ["on_both", "on_the_device", "refuses_some"])
def test_nothing_is_found_in_what_is_right(results: dict[tuple[str, str], dict[str, Any]], op: str) -> None:
    assert results[op, "calls"]["status"] == "passed"
    assert results[op, "cuda"]["status"] == "passed"
    assert results[op, "cuda"]["calls"] > 0


@pytest.mark.parametrize(
    ("op", "check", "text"),
    [
        ("short_tail", "cuda", "expected the results of the CPU up to rounding, but out["),
        ("past_the_end", "cuda", "but kernel twice, block (0, 0, 0), thread (0, 0, 0), PTX line"),
        ("past_the_end", "cuda", "ld.global.f32 reads 4 bytes"),
        ("races", "calls", "st.shared.u32 writes 4 bytes of shared memory at 0x0, which thread (0, 0, 0) wrote"),
        ("too_large", "cuda", "expected a block of at least (1, 1, 1) and at most (1024, 1024, 64) threads"),
        ("refuses_all", "cuda", "it refused all 10: ValueError: refuses_all: expected another device"),
        ("waits", "graph", "expected the call to be captured in a graph, but RuntimeError: waits: the device can't be"),
        ("by_the_way", "graph", "st.global.f32 writes 4 bytes at"),
        ("by_the_way", "graph", "of an allocation of 12 bytes that has been freed"),
        ("rows_mixed", "rows", "expected row 0 of the batch, called alone, to give row 0 of the results"),
    ],
)
def test_a_mistake_of_the_device_is_found(
    results: dict[tuple[str, str], dict[str, Any]], op: str, check: str, text: str
) -> None:
    assert results[op, check]["status"] == "failed"
    assert text in results[op, check]["findings"][0]["text"]
    assert "sticky" not in results[op, check]["findings"][0]["text"]


def test_a_call_in_a_graph_gives_what_a_call_gives(results: dict[tuple[str, str], dict[str, Any]]) -> None:
    assert results["in_graphs", "graph"]["status"] == "passed"
    assert results["in_graphs", "graph"]["calls"] > 0


@pytest.fixture(scope="module")
def derivatives(emulator: None, compiled: Callable[[str], str]) -> dict[tuple[str, str], dict[str, Any]]:
    pytest.importorskip("torch", reason="torch is not installed")
    ops = [word for name in ("causal*", "square*", "neighbour*") for word in ("--op", name)]
    words = [*ops, "--check", "calls", "--check", "gradients", "--check", "tangents"]
    done = _run(compiled("on_device.cc"), "--emulate", "--json", *words)
    assert done.returncode == command.FAILED, done.stderr
    return {(each["op"], each["check"]): each for each in json.loads(done.stdout)["results"]}


@pytest.mark.parametrize(
    ("op", "check"),
    [
        ("causal", "gradients"),
        ("causal", "tangents"),
        ("neighbour", "gradients"),
        ("square", "gradients"),
        ("square_here", "gradients"),  # a backward op for devices only, of a forward op that the CPU has too
        ("square_on_device", "gradients"),
    ],
)
def test_nothing_is_found_in_right_derivatives(
    derivatives: dict[tuple[str, str], dict[str, Any]], op: str, check: str
) -> None:
    assert derivatives[op, check]["status"] == "passed", derivatives[op, check]
    assert derivatives[op, check]["calls"] > 20


def test_a_backward_op_of_the_device_gets_the_positions_that_its_forward_op_took_there(
    derivatives: dict[tuple[str, str], dict[str, Any]],
) -> None:
    assert derivatives["neighbour_backward", "calls"]["status"] == "passed"
    assert derivatives["neighbour_backward", "calls"]["calls"] > 8


@pytest.mark.parametrize(
    ("op", "check", "text"),
    [
        ("causal_short", "gradients", "expected the declared gradient to match finite differences"),
        ("causal_short", "tangents", "expected the declared tangent to match finite differences"),
        (
            "square_keeps_other",
            "gradients",
            "expected the gradient of the CPU, up to rounding, but that of x",
        ),
    ],
)
def test_a_wrong_derivative_on_the_device_is_found(
    derivatives: dict[tuple[str, str], dict[str, Any]], op: str, check: str, text: str
) -> None:
    assert derivatives[op, check]["status"] == "failed", derivatives[op, check]
    assert text in derivatives[op, check]["findings"][0]["text"]


def test_what_is_left_out_has_its_reason(results: dict[tuple[str, str], dict[str, Any]]) -> None:
    assert results["on_both", "graph"]["reason"] == "the contract doesn't say graph_safe"
    assert results["on_the_cpu", "cuda"]["reason"] == "the function has no code for cuda"
    assert results["races", "cuda"]["reason"] == "a call ended the process (see calls)"


def test_without_a_device_the_reason_names_the_option(compiled: Callable[[str], str]) -> None:
    if kernpack.devices("cuda"):
        pytest.skip("this machine has a CUDA device")
    done = _run(compiled("on_device.cc"), "--op", "on_*", *CHECKS)
    assert done.returncode == command.PASSED, done.stdout
    assert "there is no cuda device; --emulate emulates one (on_both: cuda" in done.stdout
    assert "the function runs on cuda only, and there is no such device; --emulate emulates one" in done.stdout


def test_emulating_what_has_no_device_code_is_an_error(emulator: None, compiled: Callable[[str], str]) -> None:
    done = _run(compiled("fine.cc"), "--emulate")
    assert done.returncode == command.CANNOT
    assert done.stderr.strip() == (
        "kernpack test: --emulate: expected functions with code for cuda, but fine_cases has none"
    )
    done = _run(compiled("on_device.cc"), "--emulate", "--op", "on_the_cpu")
    assert done.returncode == command.CANNOT
    assert done.stderr.strip().endswith("but on_device_cases has none among those that --op names")


def test_a_wrong_name_of_an_emulated_device_is_named(
    emulator: None, compiled: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNPACK_EMULATOR", "sm90")
    done = _run(compiled("on_device.cc"), "--emulate")
    assert done.returncode == command.CANNOT
    assert "expected KERNPACK_EMULATOR to name devices from sm_50 to sm_199" in done.stderr


def test_pytest_cases_emulate_too(emulator: None, compiled: Callable[[str], str]) -> None:
    path = compiled("on_device.cc")
    test = kernpack_cases(path, ops=["on_both"], checks=["cuda"], emulate=True)
    test("on_both", "cuda")
    with pytest.raises(pytest.fail.Exception, match="expected the results of the CPU"):
        test("short_tail", "cuda")


RUNTIME = """
#include <kernpack/cuda.h>
#include <kernpack/kernel.h>
namespace kp = kernpack;
__global__ void Twice(const float* x, float* out, int64_t n) {
  const int64_t i = blockIdx.x * int64_t{64} + threadIdx.x;
  if (i < n) out[i] = 2 * x[i];
}
static void Run(kp::TensorView x, kp::MutTensorView out) {
  kp::cuda::launch(x, Twice, dim3((x.numel() + 63) / 64), dim3(64), 0, x.data_ptr<float>(), out.data_ptr<float>(), x.numel());
}
KP_MODULE("runtime_cases", "1.0.0");
KP_EXPORT(twice, Run, "(x: f32[N]) -> (out: f32[N]) with on \\"cuda\\"");
"""


def test_kernels_with_nvidias_runtime_library_are_tested_if_they_are_built_for_the_emulated_device(
    emulator: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("no nvcc: install NVIDIA's CUDA toolkit, or nvidia-cuda-nvcc from PyPI")
    done = _run(kernpack.load_inline(RUNTIME, language="cuda").path, "--emulate", *CHECKS)
    assert done.returncode == command.PASSED, done.stdout
    assert "it was built for NVIDIA's driver; build it with KERNPACK_EMULATOR set" in done.stdout
    monkeypatch.setenv("KERNPACK_EMULATOR", "sm_90")
    done = _run(kernpack.load_inline(RUNTIME, language="cuda").path, "--emulate", *CHECKS)
    assert done.returncode == command.PASSED, done.stdout
    assert "2 checks passed, 0 failed, 2 skipped" in done.stdout
