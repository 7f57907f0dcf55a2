"""Distributions of different versions in one environment: what pip allows, and what happens where pip was overruled."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from packaging.requirements import Requirement

from rehearsal.cells import run_child
from rehearsal.trees import ROOT

# What the edits call the distributions of a version of the ABI.
RELEASES = {
    "1.0": tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"],
    "1.1": "1.1.0",
    "2.0": "2.0.0",
}
_PROJECTS = {"kernpack-kernels": "kernels", "kernpack-compiler": "sdk/python_compiler"}


def allowed_by_pip(distribution: str, host: str) -> bool:
    """Whether today's distribution may be installed beside the kernpack of a version of the ABI."""
    project = tomllib.loads((ROOT / _PROJECTS[distribution] / "pyproject.toml").read_text())["project"]
    (host_requirement,) = [r for r in map(Requirement, project["dependencies"]) if r.name == "kernpack"]
    return host_requirement.specifier.contains(RELEASES[host])


def mixed(folder: Path, hosts: Mapping[str, str]) -> Iterator[tuple[str, Path, str, str]]:
    """(name, what PYTHONPATH needs, what to import, the refusal's pattern) of environments that pip would not make."""
    for core, python_path in hosts.items():
        for library, other in hosts.items():
            if core != library:
                place = folder / f"core-{core}-library-{library}"
                shutil.rmtree(place, ignore_errors=True)
                shutil.copytree(Path(python_path) / "kernpack", place / "kernpack", symlinks=True)
                shutil.copy(Path(other) / "kernpack" / "libkernpack.so", place / "kernpack")
                pattern = rf"^ImportError: .*({_both(core, library)}|undefined symbol)"
                yield f"_core {core}, libkernpack {library}", place, "kernpack", pattern
    for host, python_path in hosts.items():
        if host != "1.0":
            place = folder / f"compiler-1.0-host-{host}"
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            (place / "kernpack").symlink_to(Path(python_path) / "kernpack")
            (place / "kernpack_compiler").symlink_to(ROOT / "sdk" / "python_compiler" / "kernpack_compiler")
            pattern = rf"^ImportError: .*{_both('1.0', host)}.*pip install -U kernpack kernpack-compiler"
            yield f"kernpack-compiler 1.0, kernpack {host}", place, "kernpack_compiler", pattern


def _both(first: str, second: str) -> str:
    return rf"{re.escape(RELEASES[first])}.*{re.escape(RELEASES[second])}"


def run(folder: Path, hosts: Mapping[str, str]) -> tuple[int, list[str]]:
    """How many environments were tried, and what was not as expected."""
    wrong = []
    tried = 0
    for name, place, module, pattern in mixed(folder, hosts):
        tried += 1
        outcome, crash = run_child(["import", module], os.fspath(place))
        got = crash or outcome["import"]
        if not re.search(pattern, got):
            wrong.append(f"{name}: expected {pattern!r}, got {got!r}")
    return tried, wrong
