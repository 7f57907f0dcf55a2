"""A project whose module calls libraries of other wheels: built without them, tagged manylinux, installed by pip, and called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import kernpack
import kernpack_sdk
import pytest
from support.host import ROOT
from support.wheel_libraries import library

CMAKE = """\
cmake_minimum_required(VERSION 3.22)
project(my_blas LANGUAGES CXX)
find_package(kernpack REQUIRED)
kernpack_wheel_library(foo::foo LIBRARY libfoo.so.1 REQUIRES "foo>=1,<2" FOLDER foo/lib
                       SYMBOLS foo_)
kernpack_add_module(my_blas SOURCES my_blas.cc DESTINATION my_blas
                    LIBRARIES nvidia::cublas foo::foo)
"""
SOURCE = """\
#include <kernpack/kernel.h>
namespace kp = kernpack;
extern "C" int cublas_answer();
extern "C" int foo_answer();
static void Add(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    out.data_ptr<float>()[i] = x.data_ptr<float>()[i] + static_cast<float>(cublas_answer() + foo_answer());
  }
}
KP_MODULE("my_blas", "1.0.0");
KP_EXPORT(add, Add, "(x: f32[N]) -> (out: f32[N])");
"""
PROJECT = """\
[build-system]
requires = ["kernpack-sdk"]
build-backend = "kernpack_sdk.build"

[project]
name = "my-blas"
version = "1.0.0"
requires-python = ">=3.11"
license = "Apache-2.0"
dependencies = ["kernpack>=0.1,<2"]

[project.entry-points."kernpack.modules"]
my_blas = "my_blas"

"""
NEEDS = """\
[tool.kernpack]
needs = ["nvidia-cublas>=13,<14", "foo>=1.1,<2"]
"""
CALL = "import kernpack, numpy; print(kernpack.load('my_blas').add(numpy.zeros(2, 'f4')))"
# Of all that `kernpack doctor` looks at, the packages alone.
DOCTOR = "from kernpack._cli import doctor; print(*[each for each in doctor._packages() if 'my_blas' in each.what])"


def wheel_of_library(folder: Path, name: str, version: str, place: str, answer: int) -> None:
    """A wheel with a library alone, as NVIDIA's are."""
    built = library(folder / "built" / Path(place).name, answer=answer)
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name.replace('-', '_')}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.write(built, place)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("libraries") / "my-blas"
    folder.mkdir()
    for name, text in {"CMakeLists.txt": CMAKE, "my_blas.cc": SOURCE, "pyproject.toml": PROJECT + NEEDS}.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def wheel(command, project: Path) -> Path:
    done = command("build", "--json", cwd=project)
    assert done.returncode == 0, done.stderr
    assert "not tried here: a library of another wheel is missing" in done.stderr
    return project / json.loads(done.stdout)["wheel"]


def test_the_manual_shows_this_project() -> None:
    page = (ROOT / "docs" / "packaging.md").read_text()
    assert CMAKE in page
    assert NEEDS in page


def test_the_wheel_is_tagged_and_requires_the_libraries(command, wheel: Path) -> None:
    assert "manylinux_2_28_" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read("my_blas-1.0.0.dist-info/METADATA").decode()
    assert [line for line in metadata.splitlines() if line.startswith("Requires-Dist")] == [
        "Requires-Dist: kernpack<2,>=0.1",
        "Requires-Dist: nvidia-cublas<14,>=13",
        "Requires-Dist: foo<2,>=1.1",
    ]
    checked = command("check", wheel)
    assert checked.returncode == 0, checked.stdout
    inspected = command("inspect", wheel)
    assert "needs libcublas.so.13 (nvidia-cublas>=13,<14), libfoo.so.1 (foo>=1,<2), " in inspected.stdout
    (module,) = json.loads(command("inspect", "--json", wheel).stdout)["modules"]
    assert module["wheels"]["libfoo.so.1"] == ["foo>=1,<2"]


def test_pip_installs_it_and_it_finds_them(wheel: Path, tmp_path: Path) -> None:
    wheel_of_library(tmp_path, "nvidia-cublas", "13.2.0.9", "nvidia/cu13/lib/libcublas.so.13", 40)
    wheel_of_library(tmp_path, "foo", "1.1", "foo/lib/libfoo.so.1", 2)
    site = tmp_path / "site"
    # Without the runtime, which the tests have elsewhere.
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-index",
        "--no-deps",
        "--find-links",
        tmp_path,
        "--target",
        site,
    ]
    subprocess.run([*pip, wheel, "nvidia-cublas", "foo"], check=True, capture_output=True)
    assert run(site, "-c", CALL) == "[42. 42.]"
    assert f"1 function, libcublas.so.13 at {site}/nvidia/cu13/lib/libcublas.so.13, libfoo" in run(site, "-c", DOCTOR)
    explained = run(site, "-m", "kernpack", "explain", "my_blas.add")
    assert f"needs libfoo.so.1: found at {site}/foo/lib/libfoo.so.1" in explained

    (site / "foo" / "lib" / "libfoo.so.1").unlink()
    missing = run(site, "-c", DOCTOR)
    assert "state='broken'" in missing
    assert """mend='pip install "foo>=1,<2"')""" in missing


def run(site: Path, *words: str) -> str:
    """The output of Python with the packages of `site`."""
    packages = [str(Path(package.__file__).parents[1]) for package in (kernpack, kernpack_sdk)]
    paths = os.pathsep.join([str(site), *packages, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": paths}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
