"""A module that calls NVIDIA's own cuBLAS, from its wheel (440 MB): built without it, installed by pip with it, found, and called. Needs no
GPU: the function asks for a version."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import kernpack
import kernpack_sdk

CMAKE = """\
cmake_minimum_required(VERSION 3.22)
project(real_blas LANGUAGES CXX)
find_package(kernpack REQUIRED)
kernpack_add_module(real_blas SOURCES real_blas.cc DESTINATION real_blas LIBRARIES nvidia::cublas nvidia::cublasLt)
"""
SOURCE = """\
#include <kernpack/kernel.h>
extern "C" size_t cublasGetCudartVersion();
extern "C" size_t cublasLtGetVersion();
static int64_t Runtime() { return static_cast<int64_t>(cublasGetCudartVersion()); }
static int64_t Own() { return static_cast<int64_t>(cublasLtGetVersion()); }
KP_MODULE("real_blas", "1.0.0");
KP_EXPORT(runtime, Runtime);
KP_EXPORT(own, Own);
"""
PROJECT = """\
[build-system]
requires = ["kernpack-sdk"]
build-backend = "kernpack_sdk.build"

[project]
name = "real-blas"
version = "1.0.0"
requires-python = ">=3.11"
license = "Apache-2.0"

[tool.kernpack]
needs = ["nvidia-cublas>=13,<14"]
"""
CALL = "import kernpack; k = kernpack.load('real_blas'); print(k.runtime() // 1000, k.own() // 10000)"


def test_nvidias_library_is_found_and_called(command, tmp_path: Path) -> None:
    for name, text in {"CMakeLists.txt": CMAKE, "real_blas.cc": SOURCE, "pyproject.toml": PROJECT}.items():
        (tmp_path / name).write_text(text)
    built = command("build", "--json", cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    wheel = tmp_path / json.loads(built.stdout)["wheel"]
    assert "manylinux_2_28_" in wheel.name
    assert command("check", wheel).returncode == 0

    site = tmp_path / "site"
    # With its requirement, nvidia-cublas, and what that requires.
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", site, wheel], check=True)
    packages = [str(Path(package.__file__).parents[1]) for package in (kernpack, kernpack_sdk)]
    paths = os.pathsep.join([str(site), *packages, *filter(None, [os.environ.get("PYTHONPATH")])])
    called = subprocess.run(
        [sys.executable, "-c", CALL],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert called.stdout.split() == ["13", "13"], called.stderr
