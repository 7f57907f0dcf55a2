"""KERNPACK_LOG=debug: what is loaded, chosen, compiled and found."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from kernpack._compile import _compiler
from support import caches

CODE = """
import kernpack
for _ in range(2):
    k = kernpack.load_inline("int twice(int a) { return 2 * a; }", ["twice"], name="logged")
    k.twice(2)
"""


def test_what_happens_is_said(tmp_path: Path) -> None:
    environment = {**os.environ, "KERNPACK_LOG": "debug", "KERNPACK_CACHE_DIR": str(caches.with_support(tmp_path))}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True, timeout=600
    )
    lines = [line for line in done.stderr.splitlines() if f"{os.sep}logged_" in line or "logged." in line]
    assert all(line.startswith("kernpack: debug: ") for line in lines), done.stderr
    ran, compiled, loaded, kept, again = (line.removeprefix("kernpack: debug: ") for line in lines)
    place = tmp_path / "inline" / "logged_"
    assert ran.startswith(f"cache: runs {' '.join(_compiler('load_inline', 'c++').words)} ")
    assert compiled.startswith(f"cache: compiled {place}")
    assert loaded.startswith(f"load '{place}")
    assert ": module logged 0, of kernpack-sdk " in loaded
    assert ", no RECORD to compare it with (" in loaded
    assert loaded.endswith(" us); on the CPU 1 function runs the baseline")
    assert kept.startswith(f"cache: {place}")
    assert kept.endswith(" is up to date")
    assert "which this process has loaded before" in again
    assert " on the CPU " not in again


def test_a_load_is_one_line() -> None:
    """However many functions and files the module has; each is told once, in a line that can be read."""
    environment = {**os.environ, "KERNPACK_LOG": "debug"}
    code = "import kernpack_kernels; print(len(kernpack_kernels.functions))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=600
    )
    lines = [line for line in done.stderr.splitlines() if "kernpack_kernels" in line]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("kernpack: debug: load '")
    parts = lines[0].partition(" us); on the CPU ")[2].split("; ")
    counts = [int(part.split()[0]) for part in parts if re.match(r"\d+ functions? runs? ", part)]
    assert sum(counts) == int(done.stdout)
    assert "; ;" not in lines[0]
    assert ": ;" not in lines[0]
    assert len(lines[0]) < 2000


def test_without_it_nothing_is_said(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "KERNPACK_LOG"}
    environment["KERNPACK_CACHE_DIR"] = str(caches.with_support(tmp_path))
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
