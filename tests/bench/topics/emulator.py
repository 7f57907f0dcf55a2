"""The emulated CUDA device: how long 1,000 instructions of threads take, per core, with and without what it looks for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from kit import Kit
from report import Row

GOALS = {"plain": 1000.0, "with all sanitizers": 2500.0}  # nanoseconds per 1,000: 1 G and 0.4 G per second
ONE_THREAD = 10000.0  # the same of blocks of one thread: 100 M per second
SETTINGS = {"plain": "workers=1;races=0;uninitialised=0", "with all sanitizers": "workers=1"}


def measure(kit: Kit) -> list[Row]:
    rows = []
    for name, settings in SETTINGS.items():
        env = {**os.environ, "KERNPACK_EMULATOR": "sm_90", "KERNPACK_EMULATOR_SETTINGS": settings}
        command = [
            sys.executable,
            Path(__file__).parent.parent / "emulated_kernels.py",
            str(max(3, kit.repetitions // 10)),
        ]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        for kernel, best in json.loads(done.stdout).items():
            rows.append(
                Row(
                    "emulator",
                    f"{kernel}, {name}: 1,000 instructions of threads",
                    best,
                    None,
                    goal=ONE_THREAD if kernel == "one_thread" else GOALS[name],
                    peer="",
                )
            )
    return rows
