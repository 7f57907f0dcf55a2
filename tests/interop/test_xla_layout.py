"""The XLA structs that we declare have the layouts of the header that the installed jaxlib ships."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")
HERE = Path(__file__).resolve().parent


def test_layouts_match_jaxlibs_header():
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-fsyntax-only", f"-I{jax.ffi.include_dir()}"]
    command += [f"-I{HERE.parents[1] / 'ffi' / 'src'}", str(HERE / "xla_layout.cc")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
