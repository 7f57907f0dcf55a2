"""The emulated CUDA device: how long 1,000 instructions of threads take, per core, with and without what it looks for; products of
matrices by Triton's code, where `make emulator-triton` has installed Triton; its start, and loading PTX."""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import kernpack_cuda_emulator
from kit import Kit
from report import Row

from build import ROOT

GOALS = {"plain": 1000.0, "with all sanitizers": 2500.0}  # nanoseconds per 1,000: 1 G and 0.4 G per second
ONE_THREAD = 10000.0  # the same of blocks of one thread: 100 M per second
SETTINGS = {"plain": "workers=1;races=0;global_races=0;uninitialised=0", "with all sanitizers": "workers=1"}
PRODUCTS = {"plain": 15.0, "with all sanitizers": 40.0}  # milliseconds
LOADING = {"start of the device": 20.0, "module of 100,000 lines of PTX": 100.0}
TRITON = ROOT / "build" / "triton" / "venv" / "bin" / "python"
FOLDER = Path(__file__).parent.parent


def measure(kit: Kit) -> list[Row]:
    repetitions = max(3, kit.repetitions // 10)
    rows = _instructions(repetitions)
    if TRITON.exists():
        rows += _products(2 * repetitions)
    script = [sys.executable, FOLDER / "emulated_loading.py", kernpack_cuda_emulator.LIBRARY]
    for name, took in _run([*script, str(repetitions)], KERNPACK_EMULATOR="sm_90").items():
        rows.append(Row("emulator", name, took, None, unit="ms", goal=LOADING[name], peer=""))
    for row in rows:
        row.note = f"code for {_name_of_level()}"
    return rows


def _name_of_level() -> str:
    level = ctypes.CDLL(str(kernpack_cuda_emulator.LIBRARY)).kernpack_emulator_host_level
    level.restype = ctypes.c_long
    return {1: "x86-64 or another processor", 2: "x86-64-v3", 3: "x86-64-v4"}[level()]


def _run(command: list[str | Path], **variables: str) -> dict[str, float]:
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _instructions(repetitions: int) -> list[Row]:
    rows = []
    for name, settings in SETTINGS.items():
        command = [sys.executable, FOLDER / "emulated_kernels.py", str(repetitions)]
        for kernel, best in _run(command, KERNPACK_EMULATOR="sm_90", KERNPACK_EMULATOR_SETTINGS=settings).items():
            goal = ONE_THREAD if kernel == "one_thread" else GOALS[name]
            rows.append(
                Row("emulator", f"{kernel}, {name}: 1,000 instructions of threads", best, None, goal=goal, peer="")
            )
    return rows


def _products(repetitions: int) -> list[Row]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        # This device, and not the one that Triton's environment has.
        (Path(folder) / kernpack_cuda_emulator.__name__).symlink_to(kernpack_cuda_emulator.LIBRARY.parent)
        for device, (name, settings) in itertools.product(("sm_90", "sm_80"), SETTINGS.items()):
            run = [TRITON, "-m", "kernpack_cuda_emulator", "run", "--device", device, "--"]
            command = [*run, TRITON, FOLDER / "emulated_products.py", str(repetitions), device]
            found = _run(command, PYTHONPATH=folder, KERNPACK_EMULATOR_SETTINGS=settings)
            for kernel, best in found.items():
                text = f"bf16 product of 256 x 256 matrices, {kernel}, {name}"
                rows.append(Row("emulator", text, best, None, unit="ms", goal=PRODUCTS[name], peer=""))
    return rows
