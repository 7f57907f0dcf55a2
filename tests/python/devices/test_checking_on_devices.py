"""The checking mode on devices: their memory is looked at through the backend's own copies."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from unittest import mock

import kernpack
import planted_device
import pytest

HERE = Path(__file__).parent


def test_bugs_on_the_toy_are_named(planted_on_devices: kernpack.Module, toy: kernpack.Device) -> None:
    with kernpack.checking(trace=False):
        planted_device.check(planted_on_devices, toy)


def test_bugs_on_opencl_are_named(planted_on_devices: kernpack.Module) -> None:
    if not kernpack.devices("opencl"):
        pytest.skip(f"no OpenCL device: {kernpack.info()['devices']['opencl']}")
    with kernpack.checking(trace=False):
        planted_device.check(planted_on_devices, kernpack.device("opencl", 0))


def test_bugs_on_cuda_are_named(planted_on_devices: kernpack.Module, emulator: Path) -> None:
    """On the fake driver, which runs work as late as a device may and keeps device memory out of the host's reach."""
    ended = subprocess.run(
        [sys.executable, HERE / "planted_device.py", planted_on_devices.path],
        env={**os.environ, "KERNPACK_CUDA_DRIVER": str(emulator)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "all found\n"
    assert ended.stderr.splitlines() == [
        "kernpack: planted_device.writes_input(f32[5] on cuda:0)",
        mock.ANY,
        "kernpack: planted_device.writes_input(f32[5] on cuda:0)",
    ]
    assert re.match("kernpack: writes_input: memory isn't checked in this call.*captured", ended.stderr.splitlines()[1])
