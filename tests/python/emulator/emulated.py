"""Python in a process of its own: KERNPACK_EMULATOR counts when the CUDA backend is opened."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """With those variables of Kernpack's devices alone."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("KERNPACK_EMULATOR", "KERNPACK_CUDA"))
    }
    return subprocess.run(
        [sys.executable, *command], env={**kept, **variables}, capture_output=True, text=True, check=False, timeout=600
    )
