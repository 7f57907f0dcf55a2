"""Fixtures of the tests of the emulated device."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def nvrtc() -> None:
    kc = pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
    if not kc._nvrtc.find():
        pytest.skip("no nvidia-cuda-nvrtc is installed")
