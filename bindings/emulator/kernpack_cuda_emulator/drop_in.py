"""A program on the emulated device as it would run on a GPU: what it loads and starts by name is put before the real ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ._library import LIBRARY

_CHECKS = {"races": "races", "init": "uninitialised"}
# For compilers that call ptxas, Triton's for one: the device runs PTX, so that it is the "cubin".
_PTXAS = """#!/bin/sh
out=elf.o
while [ $# -gt 0 ]; do
  case $1 in
    --version | -V)
      echo 'ptxas: hands PTX through to the emulated device of kernpack-cuda-emulator'
      echo 'Cuda compilation tools, release 13.0, V13.0.0'
      exit 0
      ;;
    -o | --output-file) out=$2 && shift ;;
    *) [ ! -f "$1" ] || in=$1 ;;
  esac
  shift
done
[ -n "$in" ] || { echo 'ptxas (kernpack-cuda-emulator): expected a file with PTX' >&2; exit 1; }
exec cp "$in" "$out"
"""
_NVIDIA_SMI = """#!/bin/sh
n=0
for device in $(echo "$KERNPACK_EMULATOR" | tr , ' '); do
  echo "GPU $n: emulated, $device (kernpack-cuda-emulator)"
  n=$((n + 1))
done
"""


class DropInError(ValueError):
    """The command line asks for what there isn't."""


def format_settings(checks: str) -> str:
    """KERNPACK_EMULATOR_SETTINGS for the checks that a comma separates; the others are off. "none": all are."""
    names = [] if checks == "none" else checks.split(",")
    for name in names:
        if name not in _CHECKS:
            raise DropInError(f"--check: expected {' and '.join(_CHECKS)}, separated by a comma, or none; got {name!r}")
    return ";".join(f"{setting}={int(name in names)}" for name, setting in _CHECKS.items())


def environment(folder: Path, devices: str, seed: str | None, checks: str | None) -> Mapping[str, str]:
    """The environment of a program that finds the emulated device where a GPU's driver and tools would be. Fills the folder."""
    (folder / "libcuda.so.1").symlink_to(LIBRARY)
    tools = folder / "bin"
    tools.mkdir()
    for name, text in (("ptxas", _PTXAS), ("nvidia-smi", _NVIDIA_SMI)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    set_here = {
        "KERNPACK_EMULATOR": devices,
        "LD_LIBRARY_PATH": str(folder),
        "PATH": str(tools),
        "TRITON_LIBCUDA_PATH": str(folder),
        "TRITON_PTXAS_PATH": str(tools / "ptxas"),
        "TRITON_PTXAS_BLACKWELL_PATH": str(tools / "ptxas"),
    }
    for name in ("LD_LIBRARY_PATH", "PATH"):
        if os.environ.get(name):
            set_here[name] += os.pathsep + os.environ[name]
    if seed is not None:
        set_here["KERNPACK_EMULATOR_SEED"] = seed
    if checks is not None:
        others = os.environ.get("KERNPACK_EMULATOR_SETTINGS")
        set_here["KERNPACK_EMULATOR_SETTINGS"] = ";".join(filter(None, (others, format_settings(checks))))
    return {**os.environ, **set_here}


def run(command: Sequence[str], devices: str, seed: str | None = None, checks: str | None = None) -> int:
    """Run the command; its exit status, 128 + N after signal N."""
    with tempfile.TemporaryDirectory(prefix="kernpack-cuda-emulator-") as folder:
        variables = environment(Path(folder), devices, seed, checks)
        try:
            started = subprocess.Popen(command, env=dict(variables))
        except OSError as error:
            print(f"kernpack_cuda_emulator: can't run {command[0]}: {error.strerror}", file=sys.stderr)
            return 127
        handler = signal.signal(
            signal.SIGINT, signal.SIG_IGN
        )  # Ctrl-C is the program's to handle; this process waits for it
        try:
            status = started.wait()
        finally:
            signal.signal(signal.SIGINT, handler)
    return status if status >= 0 else 128 - status
