"""The CUDA wheel names the version of kernpack-kernels that it is a pack of: that of this tree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def test_both_kernel_wheels_name_this_version_of_each_other() -> None:
    header = (ROOT / "ffi/include/kernpack/module.h").read_text()
    version = re.search(r'#define KP_SDK_VERSION "([^"]+)"', header)[1]
    pack = tomllib.loads((ROOT / "kernels/cuda/pyproject.toml").read_text())["project"]
    main = tomllib.loads((ROOT / "kernels/pyproject.toml").read_text())["project"]
    assert pack["version"] == version
    assert pack["dependencies"] == [f"kernpack-kernels=={version}"]
    assert main["optional-dependencies"]["cuda"] == [f"kernpack-kernels-cuda=={version}"]


def test_the_page_names_the_oldest_driver_that_runs_the_pack(files: str) -> None:
    """As the code here says, which this machine's nvcc made: another nvcc asks for another driver."""
    contents = pytest.importorskip("kernpack_sdk.contents", reason="pyelftools, which reads it, is not installed")
    pack = Path(files.split(":")[-1])
    needed = {row["cuda_driver"] for row in contents.list_device_code(pack)}
    readme = " ".join((ROOT / "kernels/cuda/README.md").read_text().split())
    (named,) = re.findall(r"a driver of CUDA (\d+)\.0 or newer", readme)
    assert needed
    assert all(driver is None or int(driver.split(".")[0]) <= int(named) for driver in needed)
