from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import deployed
import pytest


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """kernpack, my_kernels and the program uses.py, as pip leaves them. Tests don't change it."""
    return deployed.install(tmp_path_factory.mktemp("deployed") / "site")


@pytest.fixture
def venv(site: Path, tmp_path: Path) -> Path:
    """A virtual environment with all of it, which also sees the packages of the Python that it was made by."""
    made = tmp_path / "venv"
    subprocess.run([deployed.PYTHON, "-m", "venv", "--system-site-packages", "--without-pip", made], check=True)
    (packages,) = made.glob("lib/python*/site-packages")
    shutil.copytree(site, packages, dirs_exist_ok=True)
    return made
