"""Which version of a module meets which host, and what is to happen then."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from rehearsal.modules import Module

HOSTS = ("1.0", "1.1", "2.0")
PEER = "apache-tvm-ffi"  # calls through the aliases, which modules in C++ and of compilers have
COMPILER = "1.1"  # beside today's
_KINDS = ("compiler_c", "compiler_llvm")
MODULES = (
    *(Module(version, language) for language in ("c", "cxx", "cmake", "generated", "backend") for version in HOSTS),
    *(Module(version, kind) for kind in _KINDS for version in ("1.0", COMPILER)),
    *(Module(COMPILER, kind, "NEWS") for kind in _KINDS),
    *(Module("1.1", language, "NEWS") for language in ("c", "cxx", "backend")),
    *(Module("1.1", language, "NEWS+NEEDS") for language in ("c", "cxx")),
    *(Module("1.1", language, "CLAIM") for language in ("c", "cxx")),
    Module("1.1", "c", "FIELD"),
)
ASKS_DEVICES = Module("1.1", "c", "NEWS")  # loaded beside a backend to ask it for what 1.1 adds
_CALLED = {
    "c": ("add", "twice", "refuse", "chosen"),
    "cxx": ("add", "twice", "refuse", "chosen", "count_devices"),
    "cmake": ("add", "twice", "refuse", "chosen", "count_devices"),
    "generated": ("square", "row_sums"),
    "compiler_c": ("square", "row_sums"),
    "compiler_llvm": ("square", "row_sums"),
    "backend": ("copy",),
}
_SECONDS = 120  # a cell takes half a second; a machine may be busy

WORKS = "works"
UPGRADE = "pip install -U kernpack"
_NO_SERVICE = rf"^RuntimeError: .*rehearse needs a host of ABI 1\.1 or newer; this is 1\.0: {UPGRADE}"


@dataclasses.dataclass(frozen=True)
class Cell:
    """A module under a host (of an ABI, or PEER); `expected` maps "load" and each function to "works" or to a refusal's pattern.
    `beside`: under PEER, the version of the kernpack that is in the process too."""

    host: str
    module: Module
    expected: Mapping[str, str]
    beside: str = ""

    @property
    def name(self) -> str:
        return f"host {self.host}{self.beside and f' beside {self.beside}'}, module {self.module.name}"


@dataclasses.dataclass(frozen=True)
class Ran:
    """The outcome of a cell. `outcome` is empty if the process died."""

    cell: Cell
    outcome: Mapping[str, str]
    crash: str

    @property
    def wrong(self) -> list[str]:
        """The differences from the expected outcome, one line each."""
        if self.crash:
            return [f"{self.cell.name}: {self.crash}"]
        lines = []
        for what, wanted in self.cell.expected.items():
            got = self.outcome.get(what, "not tried")
            if got != wanted and (wanted == WORKS or not re.search(wanted, got)):
                lines.append(f"{self.cell.name}: {what}: expected {wanted!r}, got {got!r}")
        return lines


def _refused_at_load(host: str, module: Module) -> str | None:
    """The pattern of the refusal, or None where the module loads."""
    major = module.version.split(".")[0]
    if major != host.split(".")[0]:
        advice = UPGRADE if module.version > host else "rebuild|newer build"
        ours = rf"this is kernpack {re.escape(host)}\S* with .*{re.escape(host)}.*({advice})"
        if host == "1.0":  # today's release, whose version is not that of its ABI
            ours = rf"this is kernpack \S+ with .*1\.0.*({advice})"
        if module.language == "backend":
            return rf"^ValueError: .*{module.file_name}.* needs a host of device ABI {major}\.x .*{ours}"
        return rf"^ImportError: .*{module.file_name}.* ABI {major}.*{ours}"
    if module.version > host and "NEEDS" in module.news:
        return rf"^ImportError: .*needs a host of ABI 1\.1 or newer, this is kernpack .* with ABI 1\.0; .*{UPGRADE}"
    if module.version > host and "CLAIM" in module.news:
        return rf"^ImportError: .*KpModule\.spare, which must be zero in ABI 1\.0; .*{UPGRADE}"
    return None


def _expected(host: str, module: Module) -> dict[str, str]:
    if refusal := _refused_at_load(host, module):
        return {"load": refusal}
    expected = dict.fromkeys(("load", *_CALLED[module.language]), WORKS)
    if module.language == "backend":
        return expected if host == "2.0" else {**expected, "device_news": _NO_SERVICE if host == "1.0" else WORKS}
    if "NEWS" in module.news:
        old = module.version > host
        word = rf"^ImportError: .*word: the signature needs a host of ABI 1\.1 or newer.*; this is 1\.0: {UPGRADE}"
        expected |= {"news": _NO_SERVICE if old else WORKS, "word": word if old else WORKS}
        if module.from_compiler:
            del expected["news"]
    return expected


def _expected_under_the_peer(module: Module) -> dict[str, str]:
    """An alias needs no host of ours: any major runs. What only a host of ours offers is an error that says so."""
    if module.from_compiler:
        return dict.fromkeys(("load", "square", "row_sums", *(["word"] if module.news else [])), WORKS)
    expected = dict.fromkeys(("load", "add", "twice", "refuse"), WORKS)
    expected["count_devices"] = "^RuntimeError: .*no device tables, .*; import kernpack in this process"
    if "NEWS" in module.news:
        expected["news"] = "^RuntimeError: .*rehearse is not available: .*load the module with Kernpack"
    return expected


def _expected_beside(host: str, module: Module) -> dict[str, str]:
    """Device tables come from whatever kernpack is in the process: not from one of another major."""
    major = module.version.split(".")[0]
    if major == host.split(".")[0]:
        return {"load": WORKS, "count_devices": WORKS}
    advice = UPGRADE if module.version > host else "install a newer build of the module"
    other = rf"the kernpack in this process has ABI {re.escape(host)}, and the module needs {major}\.x: {advice}"
    return {"load": WORKS, "count_devices": rf"^RuntimeError: .*{other}"}


def all_cells() -> Iterator[Cell]:
    for host in HOSTS:
        for module in MODULES:
            yield Cell(host, module, _expected(host, module))
    for module in MODULES:
        if module.language == "cxx" or module.from_compiler:
            yield Cell(PEER, module, _expected_under_the_peer(module))
    for module in MODULES:
        if module.language == "cxx" and not module.news:
            for host in HOSTS:
                yield Cell(PEER, module, _expected_beside(host, module), beside=host)


def run(cell: Cell, files: Mapping[Module, Path], python_paths: Mapping[str, str]) -> Ran:
    """Runs a cell in a process of its own. python_paths: for each host the folder that holds its kernpack."""
    built = str(files[cell.module])
    names = [name for name in cell.expected if name != "load"]
    # Where a module is not to load, its functions are named all the same: that it did would be seen by what they do.
    arguments = [built, *(names or _CALLED[cell.module.language])]
    if cell.host == PEER:
        arguments = ["beside" if cell.beside else "peer", built, *names]
    elif cell.module.language == "backend":
        # The host's own answer, -5, where the backend has none.
        arguments = ["backend", built, str(files[ASKS_DEVICES]), "6" if "NEWS" in cell.module.news else "-5"]
    return Ran(cell, *run_child(arguments, python_paths.get(cell.beside or cell.host, "")))


def run_child(arguments: list[str], python_path: str, script: str = "cell.py") -> tuple[dict[str, str], str]:
    """The outcome that the script prints, and how it died if it did."""
    child = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).parent / script), *arguments],
        env={**os.environ, "PYTHONPATH": python_path},
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    if child.returncode != 0:
        how = f"signal {-child.returncode}" if child.returncode < 0 else f"exit status {child.returncode}"
        return {}, f"the process died of {how}: {child.stderr.strip()[-500:]}"
    return json.loads(child.stdout.splitlines()[-1]), ""
