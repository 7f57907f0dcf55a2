"""The wheels install into fresh environments, with pip and uv, and the metadata forbids what must not meet.

docs/evolution.md says which distributions meet; the ABI rehearsal (`make rehearsal`) tries the binaries."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import DIST, Environment

USE = """\
import kernpack
import numpy as np
k = kernpack.load("kernpack_kernels")
print(np.round(k.softmax(np.array([[0, 0]], np.float32)), 3).tolist(), kernpack.__version__)
"""
COMPILE = "import kernpack_compiler as kc; print(kc.Target('llvm').kind.name)"
Make = Callable[..., Environment]
Other = Callable[[str, str], Path]


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_kernels_from_the_wheels_alone(environment: Make, built: dict[str, Path], installer: str) -> None:
    here = environment(installer)
    here.install("numpy==2.4.6")
    here.install("--no-index", built["kernpack"], built["kernpack-kernels"])
    assert here.run("-c", USE).startswith("[[0.5, 0.5]] ")
    assert "kernpack_kernels" in here.run("-c", "import kernpack; print(kernpack.installed())")


def test_sdk_brings_its_commands(environment: Make, built: dict[str, Path]) -> None:
    here = environment()
    here.install("--find-links", DIST, built["kernpack-sdk"])  # with the runtime
    assert (here.folder / "bin/kernpack").is_file()
    assert "Usage: kernpack" in here.run(here.folder / "bin/kernpack", "--help")
    assert here.run(here.folder / "bin/kernpack-config", "--includes").startswith("-I")
    described = here.run("-m", "kernpack_sdk", "check", built["kernpack-kernels"])
    assert built["kernpack-kernels"].name in described


def test_upgrade_and_downgrade_of_the_runtime_under_kernels(
    environment: Make, built: dict[str, Path], other_version: Other
) -> None:
    here = environment()
    here.install("numpy==2.4.6")
    here.install("--no-index", built["kernpack"], built["kernpack-kernels"])
    first = here.run("-c", USE)
    here.install("--no-index", other_version("kernpack", "0.2.0"))
    assert here.run("-c", USE).startswith("[[0.5, 0.5]] ")
    here.install("--no-index", built["kernpack"])
    assert here.run("-c", USE) == first


def test_upgrade_of_the_kernels_over_the_runtime(
    environment: Make, built: dict[str, Path], other_version: Other
) -> None:
    here = environment()
    here.install("numpy==2.4.6")
    here.install("--no-index", built["kernpack"], built["kernpack-kernels"])
    here.install("--no-index", other_version("kernpack-kernels", "0.2.0"))
    assert here.run("-c", USE).startswith("[[0.5, 0.5]] ")
    here.install("--no-index", built["kernpack-kernels"])
    assert here.run("-c", USE).startswith("[[0.5, 0.5]] ")


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_kernels_refuse_a_runtime_of_the_next_major(
    environment: Make, built: dict[str, Path], other_version: Other, installer: str
) -> None:
    here = environment(installer)
    said = here.refuses("--no-index", other_version("kernpack", "2.0.0"), built["kernpack-kernels"])
    assert re.search(r"kernpack-kernels.* depends on kernpack\S*<2", " ".join(said.split()).replace("==", " "))


def test_the_compiler_goes_with_the_runtime_of_its_version(
    environment: Make, built: dict[str, Path], other_version: Other
) -> None:
    here = environment()
    later = other_version("kernpack", "0.2.0")
    assert "kernpack==0.1.0" in here.refuses("--no-index", later, built["kernpack-compiler"]).replace(" ", "")
    here.install("--no-index", built["kernpack"], built["kernpack-compiler"])
    assert here.run("-c", COMPILE) == "llvm\n"


def test_the_compiler_is_upgraded_with_its_runtime(
    environment: Make, built: dict[str, Path], other_version: Other
) -> None:
    here = environment()
    here.install("--no-index", built["kernpack"], built["kernpack-compiler"])
    later = [other_version(name, "0.2.0") for name in ("kernpack", "kernpack-compiler")]
    assert "kernpack==0.2.0" in here.refuses("--no-index", later[1]).replace(" ", "")  # not without it
    here.install("--no-index", *later)
    assert here.run("-c", COMPILE) == "llvm\n"
    here.install("--no-index", built["kernpack"], built["kernpack-compiler"])
    assert here.run("-c", COMPILE) == "llvm\n"


def test_the_sdk_goes_with_any_runtime(environment: Make, built: dict[str, Path], other_version: Other) -> None:
    here = environment()
    here.install(other_version("kernpack", "2.0.0"), built["kernpack-sdk"])
    here.install(other_version("kernpack-sdk", "0.2.0"))
    here.install(built["kernpack-sdk"])
