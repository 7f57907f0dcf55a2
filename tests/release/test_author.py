"""An author's road: a wheel built from examples/quickstart with the SDK's wheel alone, used where there is no compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from conftest import DIST, ROOT, Environment


def test_quickstart_from_the_wheels_alone(
    environment: Callable[..., Environment], built: dict[str, Path], tmp_path: Path
) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / "examples/quickstart", project)
    build = [sys.executable, "-m", "uv", "build", "--wheel", "--python", sys.executable, "--out-dir", tmp_path]
    done = subprocess.run(
        [*build, project],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "UV_FIND_LINKS": str(DIST), "UV_NO_CACHE": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert "-py3-none-manylinux_2_28_" in wheel.name

    here = environment()
    here.install("numpy==2.4.6")
    here.install("--no-index", built["kernpack"], wheel)
    printed = here.run(project / "main.py")
    assert "NumPy" in printed
    assert "Refused: row_norm: x: expected" in printed
