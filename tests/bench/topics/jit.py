"""CUDA C++ that is compiled where it runs, on the emulated device: the first call of all against NVRTC alone, and the first call of a
later process, which takes the cache, against that of code that was compiled ahead of time."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from kit import Kit
from report import Row

import build

GOAL_FIRST = 1.3
GOAL_LATER = 1.1
KERNEL = r"""
extern "C" __global__ void normalise(const float* x, float* out, long long columns) {
  const float* row = x + blockIdx.x * columns;
  float sum = 0;
  for (long long j = threadIdx.x; j < columns; j += 32) sum += row[j] * row[j];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  const float scale = 1.0f / sum;
  for (long long j = threadIdx.x; j < columns; j += 32) out[blockIdx.x * columns + j] = row[j] * scale;
}
"""


def measure(kit: Kit) -> list[Row]:
    import kernpack_compiler

    nvrtc = kernpack_compiler._nvrtc.find()
    if not nvrtc:
        raise RuntimeError("no NVRTC: pip install nvidia-cuda-nvrtc")
    with tempfile.TemporaryDirectory() as folder:
        return _measure(Path(folder), nvrtc, max(5, kit.repetitions // 6), kit)


def _measure(folder: Path, nvrtc: str, rounds: int, kit: Kit) -> list[Row]:
    (folder / "jit_rows.cu").write_text(KERNEL)
    plain = [nvrtc, folder / "jit_rows.cu", "compute_90"]
    _run(folder, *plain, folder / "jit_rows.ptx")
    for name, constant in (("jit_rows.cu", "kSource"), ("jit_rows.ptx", "kPtx")):
        text = (folder / name).read_text()
        (folder / f"{name}.h").write_text(f'static constexpr char {constant}[] = R"__({text})__";\n')
    module = folder / "jit_rows.so"
    flags, link = kit.ours_flags
    command = [build.CXX, "-shared", "-fPIC", "-O2", *flags, f"-I{folder}", build.HERE / "ours" / "jit_rows.cc"]
    subprocess.run([*command, "-o", module, *link], check=True)
    best: dict[str, float] = {}
    for number in range(rounds):
        fresh = {"KERNPACK_CACHE_DIR": str(folder / f"cache{number}")}
        for name, words, variables in (
            ("plain", plain, {}),
            ("first", [module, "jit"], fresh),
            ("later", [module, "jit"], fresh),
            ("ahead", [module, "ahead"], {}),
        ):
            best[name] = min(best.get(name, float("inf")), _run(folder, *words, **variables) / 1e6)
    first = Row(
        "jit", "first call of all", best["first"], best["plain"], "ms", GOAL_FIRST, peer="NVRTC alone, opened and run"
    )
    later = Row(
        "jit",
        "first call of a later process",
        best["later"],
        best["ahead"],
        "ms",
        GOAL_LATER,
        peer="the PTX in the module",
    )
    return [first, later]


def _run(folder: Path, *words: Any, **variables: str) -> int:
    settings = {"KERNPACK_EMULATOR": "sm_90", "KERNPACK_CACHE_DIR": str(folder / "cache"), **variables}
    command = [sys.executable, build.HERE / "jit_calls.py", *words]
    done = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return int(done.stdout)
