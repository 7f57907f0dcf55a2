"""An editable package, as `kernpack dev --once` and `pip install -e .` leave it: what is added to its folder later is found, too."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import kernpack
import pytest
from kernpack_sdk import editable
from kernpack_sdk.project import Project

_PROGRAM = """
import _my_kernels_editable, my_kernels
from my_kernels import later, part
from my_kernels.part import deep
assert later.VALUE == 1 and deep.VALUE == 2 and later.__package__ == "my_kernels"
try:
    import my_kernels.missing
except ModuleNotFoundError as error:
    assert error.name == "my_kernels.missing"
print("found")
"""


def test_a_module_that_is_added_after_the_build_is_found(tmp_path: Path) -> None:
    source, site = tmp_path / "project" / "my_kernels", tmp_path / "site"
    (source / "part").mkdir(parents=True)
    (source / "__init__.py").touch()
    (source / "part" / "__init__.py").touch()
    (tmp_path / "project" / "pyproject.toml").write_text('[project]\nname = "my-kernels"\nversion = "1.0.0"\n')
    (site / "my_kernels").mkdir(parents=True)
    (site / "my_kernels" / "__init__.py").symlink_to(source / "__init__.py")
    (site / "my_kernels" / "part").mkdir()
    (site / "my_kernels" / "part" / "__init__.py").symlink_to(source / "part" / "__init__.py")
    hook = editable.hook(Project(tmp_path / "project"), ["my_kernels"], rebuild=False)
    (site / "_my_kernels_editable.py").write_text(hook)
    (source / "later.py").write_text("VALUE = 1\n")
    (source / "part" / "deep.py").write_text("VALUE = 2\n")
    done = subprocess.run([sys.executable, "-c", _PROGRAM], cwd=site, capture_output=True, text=True, check=False)
    assert done.stdout == "found\n", done.stderr


def test_a_rebuilt_package_has_both_hooks(tmp_path: Path) -> None:
    (tmp_path / "my_kernels").mkdir()
    (tmp_path / "my_kernels" / "__init__.py").touch()
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "my-kernels"\nversion = "1.0.0"\n')
    text = editable.hook(Project(tmp_path), ["my_kernels"], rebuild=True)
    compile(text, "hook", "exec")
    assert "_Rebuild()" in text
    assert "_Added()" in text


def test_a_library_that_the_modules_use_gets_no_stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "void twice(kp::TensorView x, kp::MutTensorView out) {}"
    module = kernpack.load_inline(source, {"twice": "(x: f32[N]) -> (out: f32[N])"}, name="my_kernels").path
    project = Project(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "my-kernels"\nversion = "1.0.0"\n')

    def install(self: Project, *words: object, **_: object) -> str:
        package = Path(str(words[-1])) / "my_kernels"
        package.mkdir(parents=True)
        shutil.copy(module, package / "my_kernels.so")
        library = ["gcc", "-shared", "-x", "c", "/dev/null", "-o", package / "libhelper.so"]
        subprocess.run(library, check=True)
        return ""

    monkeypatch.setattr(Project, "_run", install)
    project.build.mkdir(parents=True)
    project._install()
    assert (project.site / "my_kernels" / "libhelper.so").is_file()
    assert "def twice(" in (project.site / "my_kernels" / "__init__.pyi").read_text()
