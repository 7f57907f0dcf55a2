"""Compiling the JAX tests' kernels, and running code in a fresh interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def compile_module(target: Path, *flags: str, source: str = "kernels.cc") -> Path:
    """A source file of this folder as a module."""
    command = [os.environ.get("CXX", "g++"), "-std=c++17", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", *flags]
    command += [f"-I{ROOT / 'ffi' / 'include'}", str(HERE / source), "-o", str(target)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return target


def run_python(code: str, *arguments: str, **environment: str) -> str:
    """Runs code in a fresh interpreter; its output. A failure shows its error."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
