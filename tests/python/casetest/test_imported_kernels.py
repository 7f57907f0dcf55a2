"""`kernpack test` of kernels that another compiler made: each variant is for CUDA, and a function in Python says what is right."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kernpack_sdk.testing import command

pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
kc = pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")

if "llvm" not in kc.list_generators():
    pytest.skip("LLVM makes the functions that launch imported kernels", allow_module_level=True)

ROWS = Path(__file__).parents[1] / "compiler/rows.ptx"
RIGHT = "def normalise(x, k=1.0):\n    import numpy as np\n    x = x.astype(np.float64)\n    return x / x.sum(-1, keepdims=True) * k\n"
INPUTS = """
import numpy as np
from kernpack_sdk.testing import argument

@argument("normalise", "x")  # sums that aren't near 0
def x(draw):
    return draw.rng.uniform(0.5, 2, draw.shape).astype(draw.dtype)
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its contract doesn't say where it runs."""
    made = kc.import_kernel(
        ROWS,
        "(x: f32[R, N], k: float = 1.0) -> (y: f32[R, N])",
        entry="normalise",
        args=["x", "y", "N", "k"],
        grid="R",
        block=32,
        shared=128,
    )
    return kc.build_imported(made, "rows").export_library(tmp_path_factory.mktemp("rows") / "rows.so")


def run(module: Path, folder: Path, text: str | None = None, *more: str) -> tuple[int, dict[str, Any], str]:
    (folder / "inputs.py").write_text(INPUTS)
    words = [str(module), "--emulate", "--json", "--inputs", str(folder / "inputs.py"), *more]
    if text is not None:
        (folder / "right.py").write_text(text)
        words += ["--reference", str(folder / "right.py")]
    done = subprocess.run(
        [sys.executable, "-m", "kernpack_sdk", "test", *words], capture_output=True, text=True, check=False, timeout=300
    )
    shown = json.loads(done.stdout)
    return done.returncode, {each["check"]: each for each in shown.get("results", [])}, done.stderr


def test_it_runs_on_the_device_only_though_the_contract_does_not_say_it(rows: Path, tmp_path: Path) -> None:
    code, results, error = run(rows, tmp_path, RIGHT)
    assert code == command.PASSED, [each for each in results.values() if each["status"] == "failed"] or error
    for check in ("calls", "cuda", "mirror", "reference"):
        assert results[check]["status"] == "passed", results[check]
    assert results["reference"]["calls"] > 3
    assert results["memory"]["reason"] == "the function runs on cuda only, and this check needs a function of the CPU"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RIGHT.replace("* k", "+ k"), "expected the results of the reference function, but y["),
        (RIGHT.replace("* k", "* k, x"), "expected 1 results of the function, got 2"),
        (RIGHT.replace("x.sum", "x.some"), "to take each call that the kernel takes, but AttributeError"),
        (
            RIGHT.replace("* k", "* k + np.zeros((2, 1, 1))"),
            "expected the results of the reference function, but y is float32[",
        ),
    ],
)
def test_a_difference_is_found(rows: Path, tmp_path: Path, text: str, said: str) -> None:
    code, results, _ = run(rows, tmp_path, text, "--check", "reference")
    assert code == command.FAILED
    assert said in results["reference"]["findings"][0]["text"]


def test_without_a_reference_the_check_is_skipped(rows: Path, tmp_path: Path) -> None:
    _, results, _ = run(rows, tmp_path, None, "--check", "reference")
    assert results["reference"]["reason"] == "no --reference file has a function 'normalise'"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def other(x): return x", "expected a function named as one of the module's (normalise), found none"),
        ("1 / 0", "right.py: ZeroDivisionError: division by zero"),
    ],
)
def test_a_wrong_file_is_refused(rows: Path, tmp_path: Path, text: str, said: str) -> None:
    code, _, error = run(rows, tmp_path, text)
    assert code == command.CANNOT
    assert said in error
