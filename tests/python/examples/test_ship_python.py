"""examples/ship_python: ten kernels in plain Python become a wheel that NumPy, PyTorch and JAX call without the compiler."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from test_examples import ROOT, _run

PACKAGES = ("kernpack_compiler", "auditwheel", "torch", "jax")


def test_the_wheel_is_built_installed_and_called(tmp_path: Path) -> None:
    for package in PACKAGES:
        pytest.importorskip(package, reason=f"{package} is not installed")
    import kernpack_compiler as kc

    if "llvm" not in kc.list_generators():
        pytest.skip("this build has no generator of kind llvm")
    shutil.copytree(ROOT / "examples" / "ship_python", tmp_path / "ship_python")
    printed = _run(sys.executable, tmp_path / "ship_python" / "main.py", cwd=tmp_path)
    assert re.search(r"^shipped_kernels-1\.0\.0-py3-none-manylinux_2_\d+_x86_64\.whl: \d+ KB$", printed, re.MULTILINE)
    assert len(re.findall(r"^\w+ +\d\.\de[-+]\d\d from torch$", printed, re.MULTILINE)) == 10
    assert "softmax's gradient in JAX is " in printed
