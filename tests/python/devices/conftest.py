"""The toy accelerator of examples/custom_device, from the build that holds the package under test, else compiled here."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import kernpack
import pytest
from kernpack_sdk import flags
from support.host import INCLUDE, ROOT

EXAMPLE = ROOT / "examples" / "custom_device"


# The build that holds the package under test; nothing lies there where it is installed.
BUILT = Path(kernpack.__file__).parent.parent.parent / "tests" / "device"


def _built(name: str) -> Path | None:
    path = BUILT / name
    return path if path.is_file() else None


@pytest.fixture(scope="session")
def emulator() -> Path:
    """The emulated CUDA device of sdk/emulator. It links nothing of Kernpack's, so that of any build serves."""
    builds = (Path(kernpack.__file__).parent.parent.parent, ROOT / "build" / "dev")
    places = [build / "ffi/backends/cuda/libkernpack_cuda_emulator.so" for build in builds]
    for place in places:
        if place.is_file():
            return place
    pytest.skip(f"the emulated device (sdk/emulator) isn't built: looked for {' and '.join(map(str, places))}")


@pytest.fixture(scope="session")
def toy_plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if built := _built("libtoy_backend.so"):
        return built
    out = tmp_path_factory.mktemp("toy") / "libtoy_backend.so"
    sources = sorted((EXAMPLE / "toy").glob("*.cc"))
    command = ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", f"-I{INCLUDE}", *sources, "-o", out, "-pthread"]
    subprocess.run(command, check=True)
    return out


@pytest.fixture(scope="session")
def toy(toy_plugin: Path) -> kernpack.Device:
    kernpack.load_backend(toy_plugin)
    return kernpack.device("toy", 0)


def _module(folder: Path, source: Path) -> Any:
    out = folder / f"{source.stem}.so"
    command = ["g++", *flags.compile_flags(), "-O1", source, *flags.link_flags(), "-o", out]
    subprocess.run(command, check=True)
    return kernpack.load(out)


@pytest.fixture(scope="session")
def with_workspace(tmp_path_factory: pytest.TempPathFactory, toy: kernpack.Device) -> Any:
    return _module(tmp_path_factory.mktemp("with_workspace"), Path(__file__).parent / "with_workspace.cc")


@pytest.fixture(scope="session")
def toy_kernels(tmp_path_factory: pytest.TempPathFactory, toy: kernpack.Device) -> Any:
    if built := _built("toy_kernels.so"):
        return kernpack.load(built)
    return _module(tmp_path_factory.mktemp("toy_kernels"), EXAMPLE / "kernels" / "axpy.cc")


@pytest.fixture(scope="session")
def planted_on_devices(tmp_path_factory: pytest.TempPathFactory, toy: kernpack.Device) -> Any:
    return _module(tmp_path_factory.mktemp("planted"), Path(__file__).parent / "planted_device.cc")
