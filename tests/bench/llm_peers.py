"""llama.cpp's own benchmark beside ours: LLAMA_BENCH names its program, which scripts/llama-bench builds."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

MISSING = "LLAMA_BENCH names no program: scripts/llama-bench builds one"


def llama_bench() -> Path | None:
    name = os.environ.get("LLAMA_BENCH", "")
    return Path(name) if name and Path(name).is_file() else None


def tokens_per_second(program: Path, model: Path, threads: int, prompt: int, depth: int) -> float:
    """The best of three: of a prompt, or, where that is 0, of single tokens behind `depth` others. Huge pages as ours."""
    of = ["-p", str(prompt), "-n", "0"] if prompt else ["-p", "0", "-n", "16", "-d", str(depth)]
    ran = subprocess.run(
        [str(program), "-m", str(model), *of, "-t", str(threads), "-r", "3", "-o", "json"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"},
    )
    return max(json.loads(ran.stdout)[0]["samples_ts"])
