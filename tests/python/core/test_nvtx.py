"""NVIDIA's profilers are told of profiled calls as ranges, by the interface that their libraries are loaded by."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
import kernpack
import numpy as np
k = kernpack.load_inline(sys.argv[1])
k.outer(np.ones(2, np.float32))  # before the profile
with kernpack.profile():
    k.outer(np.ones(2, np.float32))
    try:
        k.outer(np.ones(0, np.float32))
    except ValueError:
        pass
with kernpack.profile():
    k.inner(np.ones(2, np.float32))
k.outer(np.ones(2, np.float32))
"""
SOURCE = """
#include <kernpack/kernel.h>
namespace kp = kernpack;
static void Inner(kp::TensorView x) { KP_CHECK(x.numel() > 0, ValueError) << "empty"; }
static void Outer(kp::TensorView x) { Inner(x); }
KP_MODULE("ranges", "1.0.0");
KP_EXPORT(inner, Inner, "(x: f32[N]) -> ()");
KP_EXPORT(outer, Outer, "(x: f32[N]) -> ()");
"""


def _run(library: str, **more: str) -> str:
    environment = {**os.environ, "NVTX_INJECTION64_PATH": library, **more}
    command = [sys.executable, "-c", PROGRAM, SOURCE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def _compiled(source: Path, folder: Path) -> str:
    out = folder / "profiler.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", out, source], check=True)
    return str(out)


def test_a_profiled_call_is_a_range(tmp_path: Path) -> None:
    told = _run(_compiled(Path(__file__).with_name("fake_nvtx.c"), tmp_path))
    assert told.splitlines() == ["begin ranges.outer", "end", "begin ranges.outer", "end", "begin ranges.inner", "end"]


def test_without_a_profiler_nothing_is_said() -> None:
    assert _run("") == ""


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (None, "profiler.so: cannot open shared object file"),
        ("int other;", "profiler.so doesn't export InitializeInjectionNvtx2"),
        ("int InitializeInjectionNvtx2(void* table) { return 0; }", "profiler.so refused to start"),
        ("int InitializeInjectionNvtx2(void* table) { return 1; }", ""),
    ],
)
def test_a_library_that_cannot_listen(source: str | None, said: str, tmp_path: Path) -> None:
    library = str(tmp_path / "profiler.so")
    if source is not None:
        (tmp_path / "profiler.c").write_text(source)
        library = _compiled(tmp_path / "profiler.c", tmp_path)
    told = _run(library)
    assert told.count("kernpack: profile: NVTX_INJECTION64_PATH: ") == bool(said)
    assert said in told
    assert told == "" or told.endswith("; that profiler will not show calls as ranges\n")
