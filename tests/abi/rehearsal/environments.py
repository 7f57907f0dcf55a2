"""Distributions of different versions in one environment: what pip allows, and what happens where pip was overruled."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import kernpack_sdk
from packaging.requirements import Requirement

from rehearsal.cells import run_child
from rehearsal.trees import ROOT, Tree

# The names of the distributions of a version of the ABI in the edits.
RELEASES = {
    "1.0": kernpack_sdk.__version__,
    "1.1": "1.1.0",
    "2.0": "2.0.0",
}
_PROJECTS = {"kernpack-kernels": "kernels", "kernpack-compiler": "bindings/compiler"}


def allowed_by_pip(distribution: str, host: str) -> bool:
    """True if today's distribution may be installed beside the kernpack of a version of the ABI."""
    pyproject = tomllib.loads((ROOT / _PROJECTS[distribution] / "pyproject.toml").read_text())
    stated = pyproject["project"].get("dependencies")
    if stated is None:  # made with its own version
        templates = pyproject["tool"]["scikit-build"]["metadata"]["dependencies"]["result"]
        stated = [text.replace("{project[version]}", RELEASES["1.0"]) for text in templates]
    (host_requirement,) = [r for r in map(Requirement, stated) if r.name == "kernpack"]
    return host_requirement.specifier.contains(RELEASES[host])


def mixed(folder: Path, hosts: Mapping[str, str], sources: Mapping[str, Tree]) -> Iterator[tuple[str, Path, str, str]]:
    """(name, what PYTHONPATH needs, what to import, the refusal's pattern) of environments that pip would not make."""
    for core, library in itertools.permutations(hosts, 2):
        place = _empty(folder / f"core-{core}-library-{library}")
        shutil.copytree(Path(hosts[core]) / "kernpack", place / "kernpack", symlinks=True)
        shutil.copy(Path(hosts[library]) / "kernpack" / "libkernpack.so", place / "kernpack")
        pattern = rf"^ImportError: .*({_both(core, library)}|undefined symbol)"
        yield f"_core {core}, libkernpack {library}", place, "kernpack", pattern
    for compiler, host in itertools.permutations(hosts, 2):
        place = _empty(folder / f"compiler-{compiler}-host-{host}")
        (place / "kernpack").symlink_to(Path(hosts[host]) / "kernpack")
        package = sources[compiler].source / "bindings" / "compiler" / "kernpack_compiler"
        shutil.copytree(package, place / "kernpack_compiler")
        (place / "kernpack_compiler" / "_version.py").write_text(f'__version__ = "{RELEASES[compiler]}"\n')
        pattern = rf"^ImportError: .*{_both(compiler, host)}.*pip install -U kernpack kernpack-compiler"
        yield f"kernpack-compiler {compiler}, kernpack {host}", place, "kernpack_compiler", pattern


_FINDS_THE_LIBRARY = """\
cmake_minimum_required(VERSION 3.22)
project(embeds LANGUAGES NONE)
find_package(kernpack REQUIRED)
if(TARGET kernpack::kernpack)
  message(STATUS "there is a library")
endif()
"""


def cmake_packages(
    folder: Path, hosts: Mapping[str, str], sources: Mapping[str, Tree]
) -> Iterator[tuple[str, Path, str, str]]:
    """(name, the project's folder, kernpack_DIR, the pattern of what CMake prints) of each kernpack-sdk beside each kernpack."""
    for sdk, host in itertools.product(sources, hosts):
        place = _empty(folder / f"sdk-{sdk}-host-{host}")
        (place / "kernpack").symlink_to(Path(hosts[host]) / "kernpack")
        shutil.copytree(sources[sdk].site / "kernpack_sdk", place / "kernpack_sdk")
        (place / "CMakeLists.txt").write_text(_FINDS_THE_LIBRARY)
        own = sdk.split(".")[0]
        refusal = (
            rf"kernpack::kernpack is left out: \S*libkernpack.so is of ABI {re.escape(host)}, this kernpack-sdk is of {own}\.x: "
            "pip install -U kernpack kernpack-sdk"
        )
        pattern = "there is a library" if own == host.split(".")[0] else refusal
        yield (
            f"kernpack-sdk {sdk}, kernpack {host}",
            place,
            str(place / sources[sdk].cmake_package.relative_to(sources[sdk].site)),
            pattern,
        )


def _empty(place: Path) -> Path:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    return place


def _both(first: str, second: str) -> str:
    return rf"{re.escape(RELEASES[first])}.*{re.escape(RELEASES[second])}"


def run(folder: Path, hosts: Mapping[str, str], sources: Mapping[str, Tree]) -> tuple[int, list[str]]:
    """How many environments were tried, and what was not as expected."""
    wrong = []
    tried = 0
    for name, place, module, pattern in mixed(folder, hosts, sources):
        tried += 1
        outcome, crash = run_child(["import", module], os.fspath(place))
        wrong += _unless(name, pattern, crash or outcome["import"])
    for name, place, package, pattern in cmake_packages(folder, hosts, sources):
        tried += 1
        configure = ["cmake", "-S", place, "-B", place / "build", "-G", "Ninja", f"-Dkernpack_DIR={package}"]
        ran = subprocess.run(configure, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        wrong += _unless(name, pattern, ran.stdout)
    return tried, wrong


def _unless(name: str, pattern: str, got: str) -> list[str]:
    return [] if re.search(pattern, got) else [f"{name}: expected {pattern!r}, got {got!r}"]
