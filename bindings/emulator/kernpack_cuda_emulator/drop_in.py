"""A program on the emulated device as it would run on a GPU: what it loads and starts by name is put before the real ones."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import report
from ._library import LIBRARY

LIBRARIES = LIBRARY.parent / "drop_in"  # under the names of NVIDIA's
_NAMES = ("libcuda.so.1", "libcudart.so.13", "libcudart.so.12", "libnvidia-ml.so.1")
_CHECKS = {"races": "races", "global": "global_races", "init": "uninitialised"}
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
    """The command line asks for what there isn't, or the device can't be put in a GPU's place any more."""


@dataclass(frozen=True)
class Options:
    """The devices of a program, the order of warps, and the errors that are looked for."""

    devices: str = "sm_90"
    seed: str | None = None
    checks: str | None = None

    def check(self, dashes: str = "--") -> None:
        """Raises DropInError over an option that can't be followed."""
        for device in self.devices.split(","):
            if not re.fullmatch(r"sm_[5-9]\d[a-z]?|sm_1\d\d[a-z]?", device):
                raise DropInError(
                    f"{dashes}device: expected architectures such as sm_90, separated by commas; got {device!r}"
                )
        if self.seed is not None and not re.fullmatch(r"random|\d{1,9}", self.seed):
            raise DropInError(f"{dashes}seed: expected a number below 1000000000, or random; got {self.seed!r}")
        for name in [] if self.checks in (None, "none") else str(self.checks).split(","):
            if name not in _CHECKS:
                raise DropInError(
                    f"{dashes}check: expected some of {', '.join(_CHECKS)}, separated by commas, or none; got {name!r}"
                )

    def variables(self) -> dict[str, str]:
        """For the library of the emulated device."""
        variables = {"KERNPACK_EMULATOR": self.devices}
        if self.seed is not None:
            variables["KERNPACK_EMULATOR_SEED"] = self.seed
        others = os.environ.get("KERNPACK_EMULATOR_SETTINGS")
        if self.checks is None:  # all, unless the environment says otherwise
            settings = [f"{setting}=1" for setting in _CHECKS.values()]
            settings = [*settings, others] if others else settings
        else:
            names = [] if self.checks == "none" else self.checks.split(",")
            settings = [f"{setting}={int(name in names)}" for name, setting in _CHECKS.items()]
            settings = [others, *settings] if others else settings
        variables["KERNPACK_EMULATOR_SETTINGS"] = ";".join(settings)
        return variables


def environment(folder: Path, options: Options) -> Mapping[str, str]:
    """The variables of a program that finds the emulated device where a GPU's driver and tools would be. Fills the folder."""
    tools = folder / "bin"
    tools.mkdir()
    for name, text in (("ptxas", _PTXAS), ("nvidia-smi", _NVIDIA_SMI)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    before = {
        "LD_LIBRARY_PATH": str(LIBRARIES),
        "LD_PRELOAD": ":".join(
            str(LIBRARIES / name) for name in _NAMES if "cudart" in name
        ),  # torch has a path of its own
        "PATH": str(tools),
        "PYTHONPATH": str(LIBRARY.parent / "start"),
    }
    for name in before:
        if os.environ.get(name):
            before[name] += os.pathsep + os.environ[name]
    return {
        **options.variables(),
        **before,
        "TRITON_LIBCUDA_PATH": str(LIBRARIES),
        "TRITON_PTXAS_PATH": str(tools / "ptxas"),
        "TRITON_PTXAS_BLACKWELL_PATH": str(tools / "ptxas"),
    }


def _others() -> list[str]:
    """Libraries under the names of the drop-in ones that this process has loaded already."""
    found: dict[str, None] = {}
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        path = line[line.find("/") :] if "/" in line else ""
        name = os.path.basename(path)
        ours = Path(path).parent.name == LIBRARIES.name and (Path(path).parents[1] / LIBRARY.name).exists()
        if re.match(r"lib(cuda\.so\.1|cudart\.so\.1[23]|nvidia-ml\.so\.1|cuda\.so\.\d+\.)", name) and not ours:
            found[path] = None
    return list(found)


def require_first() -> None:
    """Raises DropInError if `load` comes too late."""
    if others := _others():
        raise DropInError(
            f"the process has loaded {', '.join(others)} already, so that the emulated device can't take its place; expected the "
            "plugin before any module that uses CUDA: python -m pytest -p kernpack_cuda_emulator.pytest"
        )


def load() -> None:
    """Loads the drop-in libraries into this process: later, a library that is linked to one of their names, or that opens one, gets
    ours, as each is known by its SONAME. So the search path, which the loader reads when a process starts, needn't be set."""
    for name in _NAMES:
        ctypes.CDLL(str(LIBRARIES / name), mode=ctypes.RTLD_GLOBAL)


def run(command: Sequence[str], options: Options, report_file: str | None = None) -> int:
    """Run the command; its exit status, 128 + N after signal N."""
    options.check()
    with tempfile.TemporaryDirectory(prefix="kernpack-cuda-emulator-") as folder:
        lines = Path(folder) / "report.jsonl"
        variables = dict(environment(Path(folder), options))
        if report_file is not None:
            report.require_writable(report_file)
            variables["KERNPACK_EMULATOR_REPORT"] = str(lines)
        try:
            started = subprocess.Popen(command, env={**os.environ, **variables})
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
        status = status if status >= 0 else 128 - status
        if report_file is not None:
            report.write(report_file, lines, list(command), status)
    return status
