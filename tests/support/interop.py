"""Compiling the modules of tests/interop/src."""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.host import ROOT

SOURCES = ROOT / "tests" / "interop" / "src"


def compile_module(source: Path, out: Path, *flags: str) -> Path:
    command = [
        "g++",
        "-std=c++17",
        "-O1",
        "-shared",
        "-fPIC",
        "-fvisibility=hidden",
        "-fno-gnu-unique",
        *flags,
        str(source),
        "-o",
        str(out),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return out
