"""The modules that the tests' programs call."""

from __future__ import annotations

from pathlib import Path

import kernpack
import pytest


@pytest.fixture(scope="session")
def k(tmp_path_factory: pytest.TempPathFactory) -> kernpack.Module:
    """sample.MODULE for the CPU and for OpenCL, as one module."""
    import kernpack_compiler
    import sample

    folder = tmp_path_factory.mktemp("sample")

    def exported(kind: str) -> Path:
        return kernpack_compiler.build(sample.MODULE, kind).export_library(folder / f"{kind}.so")

    return kernpack.load([exported("c"), exported("opencl")])


@pytest.fixture(scope="session")
def opencl() -> kernpack.Device:
    found = kernpack.devices("opencl")
    if not found:
        pytest.skip("no OpenCL device: " + kernpack.info()["devices"]["opencl"])
    return found[0]
