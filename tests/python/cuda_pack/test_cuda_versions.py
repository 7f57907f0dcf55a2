"""The CUDA wheel names the version of kernpack-kernels that it is a pack of: that of this tree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_both_kernel_wheels_name_this_version_of_each_other() -> None:
    header = (ROOT / "ffi/include/kernpack/module.h").read_text()
    version = re.search(r'#define KP_SDK_VERSION "([^"]+)"', header)[1]
    pack = tomllib.loads((ROOT / "kernels/cuda/pyproject.toml").read_text())["project"]
    main = tomllib.loads((ROOT / "kernels/pyproject.toml").read_text())["project"]
    assert pack["version"] == version
    assert pack["dependencies"] == [f"kernpack-kernels=={version}"]
    assert main["optional-dependencies"]["cuda"] == [f"kernpack-kernels-cuda=={version}"]
