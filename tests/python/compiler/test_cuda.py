"""The generator of kind cuda from Python: NVRTC of an installed wheel, no GPU."""

from __future__ import annotations

import subprocess
import sys

import pytest

kc = pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")

TEXT = """module "cuda_rows" func scale(x: f32[N]) -> (o: f32[N]) {
  parallel i in 0..N { o[i] = x[i] * 2.0 }
}"""


def test_code_for_several_architectures_is_inside() -> None:
    if not kc._nvrtc.find():
        pytest.skip("no nvidia-cuda-nvrtc is installed")
    function = kc.build(TEXT, "cuda").functions["scale"]
    assert set(function.targets) == {f"cuda -arch={arch}" for arch in ("sm_80", "sm_90", "sm_100", "compute_80")}


def test_without_nvrtc_the_error_says_how_to_get_it() -> None:
    code = f"""
import os
os.environ["KERNPACK_NVRTC"] = "/nowhere/libnvrtc.so"
from kernpack_compiler import Target, build
try:
    build('''{TEXT}''', Target("cuda"))
except RuntimeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install nvidia-cuda-nvrtc" in done.stdout
