"""`python -m pytest -p kernpack_cuda_emulator.pytest`: an error of a kernel is its test's failure, and the next test's device works."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.emulated import without_emulator

pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
HERE = Path(__file__).parent
KERNELS = HERE / "plugin_kernels.py"
FAILED = [
    "test_mistake[unwritten]", "test_mistake[race]", "test_mistake[bounds]", "test_mistake[barrier]", "test_right[1]",
    "test_raises", "test_that_should_make_an_error",
]  # fmt: skip


def _pytest(*words: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "kernpack_cuda_emulator.pytest", "-p", "no:cacheprovider", "-rfE", *words],
        env=without_emulator(), capture_output=True, text=True, check=False, timeout=600, cwd=folder,
    )  # fmt: skip


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """The output, and the report."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("plugin_cases.py", "plugin_kernels.py"):
        (folder / name).write_text((HERE / name).read_text(encoding="utf-8"), encoding="utf-8")
    ran = _pytest("--emulator-report", "report.json", "--emulator-seed", "7", "plugin_cases.py", folder=folder)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return ran.stdout, json.loads((folder / "report.json").read_text(encoding="utf-8"))


def _section(output: str, test: str) -> str:
    """The text of a failed test."""
    return re.split(r"\n_{3,} ", output.split(f" {test} __", 1)[1])[0]


def test_each_error_is_its_own_tests_failure(done: tuple[str, dict[str, Any]]) -> None:
    output, _ = done
    assert re.findall(r"^FAILED plugin_cases.py::(\S+)", output, re.MULTILINE) == FAILED
    assert re.findall(r"^ERROR plugin_cases.py::(\S+)", output, re.MULTILINE) == ["test_of_a_wrong_fixture"]
    assert "7 failed, 3 passed, 1 xfailed, 1 error" in output


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("test_mistake[unwritten]", "uninitialised: kernel unwritten, block (0, 0, 0), thread ("),
        ("test_mistake[race]", "race: kernel race, block (0, 0, 0), thread ("),
        ("test_mistake[bounds]", "address: kernel bounds, block (0, 0, 0), thread ("),
        ("test_mistake[barrier]", "barrier: kernel barrier"),
        ("test_raises", "RuntimeError: unspecified launch failure: kernel race"),
        ("test_of_a_wrong_fixture", "race: kernel race"),
        ("test_that_should_make_an_error", "expected the emulated device to find 'race'; nothing was found"),
    ],
)
def test_the_failure_says_what_the_kernel_did(done: tuple[str, dict[str, Any]], test: str, said: str) -> None:
    assert said in _section(done[0], test)


def test_the_failure_shows_the_kernels_source(done: tuple[str, dict[str, Any]]) -> None:
    lines = KERNELS.read_text(encoding="utf-8").splitlines()
    number = next(n for n, line in enumerate(lines, 1) if line.startswith("BODIES"))
    section = _section(done[0], "test_mistake[race]")
    assert f"plugin_kernels.py:{number}\n" in section
    assert f">  {number:>4}  {lines[number - 1]}\n" in section
    assert "seed 7 reproduces it" in section


def test_the_report_has_every_error(done: tuple[str, dict[str, Any]]) -> None:
    _, report = done
    kinds = [finding["kind"] for finding in report["findings"]]
    assert kinds == ["uninitialised", "race", "address", "barrier", "address", "race", "race", "race", "race"]
    race = report["findings"][1]
    assert (race["kernel"], race["device"], race["block"], race["seed"]) == ("race", "sm_90", [0, 0, 0], 7)
    assert (race["instruction"], Path(race["file"]).name) == ("st.shared.u32", "plugin_kernels.py")
    assert race["test"] == "plugin_cases.py::test_mistake[race] (call)"
    launches = {kernel["name"]: (kernel["launches"], kernel["findings"]) for kernel in report["kernels"]}
    assert launches == {"right": (4, 0), "race": (5, 5), "bounds": (2, 2), "unwritten": (1, 1), "barrier": (1, 1)}
    assert (report["version"], report["status"]) == (1, 1)


def test_processes_of_xdist_write_into_one_report(tmp_path: Path) -> None:
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    for name in ("plugin_cases.py", "plugin_kernels.py"):
        (tmp_path / name).write_text((HERE / name).read_text(encoding="utf-8"), encoding="utf-8")
    ran = _pytest("-n", "2", "--emulator-report", "report.json", "plugin_cases.py", folder=tmp_path)
    assert "7 failed, 3 passed, 1 xfailed, 1 error" in ran.stdout
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert len(report["findings"]) == 9
    assert sum(kernel["launches"] for kernel in report["kernels"]) == 13


def test_a_wrong_option_is_refused(tmp_path: Path) -> None:
    for option, said in {
        "--emulator-device=h100": "--emulator-device: expected architectures such as sm_90, separated by commas; got 'h100'",
        "--emulator-check=speed": "--emulator-check: expected some of races, global, init, separated by commas, or none; got 'speed'",
        "--emulator-report=none/report.json": "report: can't write to none/report.json: No such file or directory",
    }.items():
        ran = _pytest(option, folder=tmp_path)
        assert (ran.returncode, said in ran.stderr) == (4, True), ran


def test_a_driver_that_was_loaded_before_is_named(tmp_path: Path) -> None:
    """As by a plugin that is named before ours."""
    (tmp_path / "early.py").write_text(
        "import ctypes, pathlib\nctypes.CDLL(str(pathlib.Path('libcuda.so.1').resolve()))\n"
    )
    subprocess.run(["cc", "-shared", "-o", tmp_path / "libcuda.so.1", "-x", "c", "/dev/null"], check=True, timeout=60)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "early", "-p", "kernpack_cuda_emulator.pytest"],
        env=without_emulator(), capture_output=True, text=True, check=False, timeout=600, cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 4
    assert f"the process has loaded {tmp_path}/libcuda.so.1 already" in ran.stderr
