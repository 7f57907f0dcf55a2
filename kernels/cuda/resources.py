"""Registers, shared memory and spills of the pack's kernels, as ptxas reports them: python resources.py KERNEL.cu... [--arch 80 90],
or python resources.py --log FILE, of a build with -DKERNPACK_CUDA_FLAGS=-Xptxas=-v.

Ends with 1 where a kernel spills more registers to memory than a call takes that few rows need, or needs more than its block of threads
may have.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[1]  # where the families include each other from
FLAGS = ("-std=c++17", "-O3", "-cubin", "-Xptxas", "-v", "-o", "/dev/null")
MOST_REGISTERS = 255  # of a thread
MOST_SPILLED = 200  # bytes, stored and loaded: about 25 registers, once
ENTRY = re.compile(r"Compiling entry function '(\w+)' for 'sm_(\w+)'")
SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers(?:.*?(\d+) bytes smem)?")


@dataclass
class Kernel:
    name: str
    arch: str
    spilled: int = 0
    registers: int = 0
    static_shared: int = 0


def report(source: Path, arch: str) -> list[Kernel]:
    """Of each entry of a file."""
    command = ["nvcc", *FLAGS, f"-I{KERNELS}", f"-gencode=arch=compute_{arch},code=sm_{arch}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return read(done.stderr)


def _archs(source: Path, archs: list[str]) -> list[str]:
    """Of a file: *_sm90.cu are compiled for sm_90a alone."""
    if not source.stem.endswith("_sm90"):
        return archs
    return ["90a"] if "90" in archs else []


def read(said: str) -> list[Kernel]:
    """Of each entry that ptxas says something of."""
    kernels: list[Kernel] = []
    for line in said.splitlines():
        if found := ENTRY.search(line):
            kernels.append(Kernel(_plain(found[1]), found[2]))
        elif kernels and (found := SPILLS.search(line)):
            kernels[-1].spilled += int(found[1]) + int(found[2])  # of the functions that it calls, too
        elif kernels and (found := USED.search(line)):
            kernels[-1].registers, kernels[-1].static_shared = int(found[1]), int(found[2] or 0)
    return kernels


def _plain(name: str) -> str:
    done = subprocess.run(["c++filt", name], capture_output=True, text=True, check=False)
    return done.stdout.strip().partition("(")[0].removeprefix("void ") or name


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="*", type=Path)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--arch", nargs="+", default=["80", "90"])
    options = parser.parse_args()
    if not options.sources and not options.log:
        parser.error("expected files of kernels, or --log")
    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(report, source, arch) for source in options.sources for arch in _archs(source, options.arch)
        ]
        kernels = [kernel for job in jobs for kernel in job.result()]
    if options.log:
        kernels += read(options.log.read_text())
    if not kernels:
        sys.exit("resources: ptxas reported no kernel")
    width = max(len(kernel.name) for kernel in kernels)
    print(f"{'kernel':{width}}  arch    registers  spilled  static shared memory")
    for kernel in kernels:
        print(
            f"{kernel.name:{width}}  sm_{kernel.arch:4} {kernel.registers:9}  {kernel.spilled:7}  {kernel.static_shared}"
        )
    wrong = [
        kernel for kernel in kernels if kernel.spilled > MOST_SPILLED or not 0 < kernel.registers <= MOST_REGISTERS
    ]
    for kernel in wrong:
        print(
            f"{kernel.name} for sm_{kernel.arch}: {kernel.spilled} bytes spilled: make its tile smaller",
            file=sys.stderr,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
