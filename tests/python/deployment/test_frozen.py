"""Programs that are frozen into a folder, without options, as programs with NumPy are."""

from __future__ import annotations

from pathlib import Path

import kernpack
import pytest
from deployed import PYTHON, environment, run, works
from kernpack import _freeze

# Further packages of this environment that a tool would collect: kernpack serves these, and a program that doesn't import them needs none.
OTHERS = "numpy,torch,jax,jaxlib,ml_dtypes,kernpack_sdk"


@pytest.fixture
def program(site: Path, tmp_path: Path) -> Path:
    file = tmp_path / "program.py"
    file.write_text("import uses\nuses.main()\n")
    return file


def _runs_without_python(file: Path, home: Path) -> None:
    works([file], {"HOME": str(home)})  # neither PYTHONPATH nor PATH


def test_pyinstaller(site: Path, program: Path, tmp_path: Path) -> None:
    home = environment(PYTHONPATH=str(site), HOME=str(tmp_path), KERNPACK_CACHE_DIR=str(tmp_path / "cache"))
    done = run([PYTHON, "-m", "PyInstaller", "--log-level=WARN", program], home, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    _runs_without_python(tmp_path / "dist/program/program", tmp_path)
    held = {file.name for file in (tmp_path / "dist/program").rglob("*")}
    assert held.isdisjoint(OTHERS.split(",")), held


def test_cx_freeze(site: Path, program: Path, tmp_path: Path) -> None:
    home = environment(PYTHONPATH=str(site), HOME=str(tmp_path))
    words = ["build", "--script=program.py", f"--build-exe={tmp_path}/built", f"--excludes={OTHERS}"]
    done = run([PYTHON, "-m", "cx_Freeze", *words], home, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    _runs_without_python(tmp_path / "built/program", tmp_path)


def test_a_package_that_was_not_frozen_too_is_named_with_the_option_that_adds_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.frozen", True, raising=False)
    with pytest.raises(
        ImportError, match=r"'absent' isn't part of this frozen program; .* --hidden-import=absent for PyInst"
    ):
        kernpack.load("absent")


def test_a_hook_is_written_for_each_kernel_package_also_where_no_cache_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_freeze, "installed", lambda: {"a-name": "a_package", "other": "deep.package"})
    for cache in (str(tmp_path / "cache"), "/dev/null/cache"):
        monkeypatch.setenv("KERNPACK_CACHE_DIR", cache)
        ours, written = map(Path, _freeze.hook_dirs())
        assert [file.name for file in ours.glob("*.py")] == ["hook-kernpack.py"]
        assert {file.name for file in written.iterdir()} == {"hook-a_package.py", "hook-deep.package.py"}
