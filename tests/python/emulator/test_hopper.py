"""Kernels of Hopper that nvcc compiles, with tensor maps of the emulated driver."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.emulated import need_nvcc, run_lines

HERE = Path(__file__).parent
SCRIPT = HERE / "call_hopper.py"
_GOOD = {"good", "swizzled", "five dimensions", "filled with NaN", "element strides"}

pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")


def compile_kernel(folder: Path, change: tuple[str, str] = ("", "")) -> Path:
    need_nvcc(folder, "cstdint", "C++ library", "nvidia-cuda-nvcc")
    text = (HERE / "hopper.cu").read_text()
    assert change[0] in text
    source, out = folder / "hopper.cu", folder / "hopper.ptx"
    source.write_text(text.replace(*change) if change[0] else text)
    subprocess.run(["nvcc", "-ptx", "-arch=sm_90a", source, "-o", out], check=True)
    return out


def test_only_tensor_maps_that_copies_can_use_are_made() -> None:
    lines = run_lines(SCRIPT, "maps")
    assert len(lines) == 23
    for line in lines:
        name, result = line.split(": ")
        assert int(result) == (0 if name in _GOOD else 1), line


def test_a_product_with_specialised_warps_is_right(tmp_path: Path) -> None:
    ptx = compile_kernel(tmp_path)
    for seed in (0, 7):
        assert run_lines(SCRIPT, str(ptx), seed=seed) == ["right"]


@pytest.mark.parametrize(
    ("removed", "said"),
    [
        (
            '"wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned 0;"',
            "may still be reading: wgmma.wait_group",
        ),
        ('"wgmma.fence.sync.aligned;"', "needs a wgmma.fence"),
        ("fence.proxy.async.shared::cta;\\nbar.sync 1, 128;", "through the async proxy"),
        ("(i / kStages & 1) ^ 1", "waits for a phase that never ends"),
        ('"r"(2 * kTileBytes)', "bytes of copies"),
    ],
)
def test_what_is_missing_is_named_with_its_line(tmp_path: Path, removed: str, said: str) -> None:
    kept = {
        "(i / kStages & 1) ^ 1": "i / kStages & 1",
        "fence.proxy.async.shared::cta;\\nbar.sync 1, 128;": "bar.sync 1, 128;",
        '"r"(2 * kTileBytes)': '"r"(3 * kTileBytes)',
    }
    (line,) = run_lines(SCRIPT, str(compile_kernel(tmp_path, (removed, kept.get(removed, '""')))))
    assert said in line
    assert "PTX line" in line
