"""kernpack build --platform win_amd64: a wheel for Windows, by zig. Nothing of it runs here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from kernpack_sdk import cross, pip_wheel, shared_object
from kernpack_sdk.project import BuildError, Project
from kernpack_sdk.testing import runner
from kernpack_sdk.testing.runner import CannotTest, Plan

COMMAND = [sys.executable, "-m", "kernpack"]


def _run(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "200"} | environment,
        check=False,
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("windows")
    made = _run("new", "crossed", "--with-python", cwd=folder)
    assert made.returncode == 0, made.stderr
    return folder / "crossed"


def test_a_wheel_for_windows(project: Path, tmp_path: Path) -> None:
    """In tests/conftest.py's list: zig's first build of C++'s library for Windows takes minutes."""
    pytest.importorskip("ziglang", reason="ziglang compiles for Windows and is not installed")
    built = _run("build", "--platform", "win_amd64", "--reproducible", cwd=project)
    assert built.returncode == 0, built.stderr
    assert "built twice from clean: the same file" in built.stdout
    (wheel,) = (project / "dist").glob("*.whl")
    assert wheel.name == "crossed-0.1.0-py3-none-win_amd64.whl"
    with zipfile.ZipFile(wheel) as archive:
        assert "def swish(" in archive.read("crossed/__init__.pyi").decode()
        archive.extractall(tmp_path)
    module = shared_object.read(tmp_path / "crossed" / "crossed.dll")
    assert module.exports == ("__tvm_ffi_swish", "__tvm_ffi_swish_backward", "kp_module_v1")
    assert module.unprotected == ()
    checked = _run("check", wheel, cwd=project)
    assert checked.returncode == 0, checked.stdout
    assert "runs on win_amd64; runs on hosts of ABI 1.0 and newer" in checked.stdout
    shown = _run("inspect", wheel, cwd=project).stdout
    assert any(line.startswith("crossed.dll ") and line.endswith("KB  x86-64") for line in shown.splitlines())
    assert "swish_backward" in shown


def test_a_wheel_with_variants(project: Path) -> None:
    """In tests/conftest.py's list, too."""
    pytest.importorskip("ziglang", reason="ziglang compiles for Windows and is not installed")
    cmake, source = project / "CMakeLists.txt", project / "src" / "crossed.cc"
    text, kernel = cmake.read_text(), source.read_text()
    wide = """#include <kernpack/kernel.h>
static void Twice(kernpack::TensorView x, kernpack::MutTensorView out) {
  const float* from = x.data_ptr<float>();
  float* to = out.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = 2 * from[i];
}
#ifdef KP_TARGET
KP_EXPORT_FOR(KP_TARGET, twice, Twice, "(x: f32[N]) -> (out: f32[N])");
#else
KP_EXPORT(twice, Twice, "(x: f32[N]) -> (out: f32[N])");
#endif
"""
    (project / "src" / "wide.cc").write_text(wide)
    cmake.write_text(
        text.replace(
            "DESTINATION", "VARIANT_SOURCES src/wide.cc VARIANTS x86-64-v2 x86-64-v3 x86-64-v4+avx512vnni DESTINATION"
        )
    )
    try:
        built = _run("build", "--platform", "win_amd64", "-o", "variants", cwd=project)
    finally:
        cmake.write_text(text)
        source.write_text(kernel)
    assert built.returncode == 0, built.stderr
    (wheel,) = (project / "variants").glob("*.whl")
    assert _run("check", wheel, cwd=project).returncode == 0
    rows = [
        line.split() for line in _run("inspect", wheel, cwd=project).stdout.splitlines() if line.startswith("twice ")
    ]
    assert [row[1:3] for row in rows] == [["baseline", "-"], ["llvm", "-mcpu=x86-64-v3"], ["llvm", "-mcpu=x86-64-v4"]]
    assert "avx2" in " ".join(rows[1])


def test_without_zig(project: Path, tmp_path: Path) -> None:
    (tmp_path / "ziglang").mkdir()
    (tmp_path / "ziglang" / "__init__.py").write_text("")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    refused = _run("build", "--platform", "win_amd64", cwd=project, PYTHONPATH=path)
    assert refused.returncode == 1
    assert (
        "kernpack build: --platform win_amd64: zig is missing, which compiles for it; pip install ziglang"
        in refused.stderr
    )


def test_an_unknown_platform(project: Path) -> None:
    refused = _run("build", "--platform", "win32", cwd=project)
    assert refused.returncode == 2
    assert "--platform: expected win_amd64, got 'win32'" in refused.stderr


def test_a_platform_and_a_target(project: Path) -> None:
    refused = _run("build", "--platform", "win_amd64", "--target", "aarch64", cwd=project)
    assert refused.returncode == 2
    assert "--target is for Linux; --platform names the processor, too: leave --target out" in refused.stderr


def test_on_windows_zig_and_ninja_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As far as it shows here."""
    monkeypatch.delenv("CMAKE_GENERATOR", raising=False)
    assert "CMAKE_GENERATOR" not in pip_wheel._environment(tmp_path, "scratch", isolated=True)
    monkeypatch.setattr(cross, "own_system", lambda: cross.WINDOWS)
    assert pip_wheel._environment(tmp_path, "scratch", isolated=True)["CMAKE_GENERATOR"] == "Ninja"
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"\n')
    (tmp_path / "CMakeLists.txt").touch()
    monkeypatch.setattr(cross, "find_zig", lambda: None)
    with pytest.raises(BuildError, match=r"^no compiler; pip install ziglang$"):
        Project(tmp_path).build_now()
    monkeypatch.setattr(cross, "find_zig", lambda: tmp_path / "zig.exe")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(BuildError, match=r"^no ninja on the PATH; pip install ninja$"):
        Project(tmp_path).build_now()


def test_kernpack_test_says_that_it_does_not_run_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "WINDOWS", True)
    with pytest.raises(CannotTest, match=r"^not supported on Windows yet; test the sources on Linux$"):
        runner.run(Plan("any"))
