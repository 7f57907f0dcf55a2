"""`kernpack new --cuda` and `kernpack build --cuda-arch`: compiled by nvcc, for the architectures that were asked for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(
    shutil.which("nvcc") is None, reason="there is no nvcc: the CUDA toolkit is not installed"
)


@pytest.fixture(scope="module")
def project(command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cuda") / "gpu projects"
    folder.mkdir()
    assert command("new", "on-gpu", "--cuda", cwd=folder).returncode == 0
    return folder / "on-gpu"


def _built(command, project: Path, *options: str) -> tuple[Path, dict[str, Any]]:
    done = command("build", "--json", *options, cwd=project)
    assert done.returncode == 0, done.stderr
    wheel = project / json.loads(done.stdout)["wheel"]
    (module,) = json.loads(command("inspect", wheel, "--json").stdout)["modules"]
    return wheel, module


def test_the_new_project_is_compiled_for_its_architectures(command, project: Path) -> None:
    wheel, module = _built(command, project)
    code = {row["architecture"]: row for row in module["device_code"]}
    assert list(code) == ["sm_80", "sm_90", "compute_80", "compute_90"]
    assert all(row["bytes"] < row["unpacked_bytes"] for row in code.values())  # compressed
    assert not any("cuda" in library for library in module["needs"])
    assert {each["name"] for each in module["functions"]} == {"axpy", "swish", "swish_backward"}
    checked = command("check", wheel)
    assert checked.returncode == 0, checked.stdout
    assert "paths of the machine that built it" not in checked.stdout
    assert "machine code for GPUs: sm_80 " in command("inspect", wheel).stdout
    # Slimmed for one of its GPUs, the wheel passes too.
    assert command("slim", wheel, "--cuda-arch", "90", cwd=project).returncode == 0
    slimmed = project / "slim" / wheel.name
    checked = command("check", slimmed)
    assert checked.returncode == 0, checked.stdout
    (module,) = json.loads(command("inspect", slimmed, "--json").stdout)["modules"]
    assert [row["architecture"] for row in module["device_code"]] == ["sm_90"]


def test_other_architectures_for_one_build(command, project: Path) -> None:
    _, module = _built(command, project, "-o", "other", "--cuda-arch", "90a,75")
    assert [row["architecture"] for row in module["device_code"]] == ["sm_75", "sm_90a", "compute_75"]


def test_a_build_for_the_emulated_device_runs_there_and_is_not_published(command, project: Path) -> None:
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    done = command("build", "--json", "-o", "emulated", cwd=project, env={"KERNPACK_EMULATOR": "sm_90"})
    assert done.returncode == 0, done.stderr
    wheel = project / json.loads(done.stdout)["wheel"]
    slimmed = command("slim", wheel, "--cuda-arch", "90", "--ptx", "90", "-o", "slim-emulated", cwd=project)
    assert slimmed.returncode == 0, slimmed.stderr
    assert "sm_80" in slimmed.stdout
    slim = project / "slim-emulated" / wheel.name
    tested = command("test", slim, "--emulate", "--op", "axpy", "--check", "calls", "--check", "cuda", cwd=project)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    tested = command("test", wheel, "--emulate", "--op", "axpy", "--check", "calls", "--check", "cuda", cwd=project)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "1 function, 2 checks passed, 0 failed" in tested.stdout
    checked = command("check", wheel)
    assert checked.returncode == 1
    assert "needs libkernpack_cuda_emulator.so" in checked.stdout
    # The next build without the variable is for NVIDIA's driver again.
    _, module = _built(command, project)
    assert not any("emulator" in library for library in module["needs"])
