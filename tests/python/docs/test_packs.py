"""The pack of docs/packaging.md: a second wheel whose shared object lies in the package of the first one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import kernpack
import kernpack_sdk
import numpy as np
import pytest
from blocks import ROOT, read_blocks
from kernpack_sdk import packs

SOURCE = """\
#include <kernpack/kernel.h>
namespace kp = kernpack;
static void Scale(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = 2 * x.data_ptr<float>()[i];
}
"""
MAIN = (
    SOURCE
    + """\
KP_MODULE("my_kernels", "1.0.0");
KP_EXPORT(scale, Scale, "(x: f32[N]) -> (out: f32[N])");
"""
)


def _page(*languages: str) -> list[str]:
    return [block.text for block in read_blocks(ROOT / "docs/packaging.md") if block.language in languages]


def _write_main(folder: Path) -> Path:
    (about,) = [text for text in _page("toml") if 'name = "my-kernels"\n' in text]
    (cmake,) = [text for text in _page("cmake") if "project(my_kernels LANGUAGES CXX)" in text]
    folder.mkdir()
    (folder / "pyproject.toml").write_text(about)
    (folder / "CMakeLists.txt").write_text(cmake)
    (folder / "my_kernels.cc").write_text(MAIN)
    return folder


def _write_pack(folder: Path, version: str = "1.0.0") -> Path:
    """The page's; in C++, so that it needs no nvcc. Nothing calls its function: its target is for a GPU."""
    folder.mkdir()
    for text in _page("toml", "cmake", "cuda"):
        if name := re.match(r"(?://|#) pack/(\S+)\n", text):
            (folder / name[1]).write_text(text.replace("1.0.0", version))
    cmake = (folder / "CMakeLists.txt").read_text()
    cmake = cmake.replace("CXX CUDA", "CXX").replace("sm90.cu CUDA_ARCHITECTURES 90a", "sm90.cc")
    (folder / "CMakeLists.txt").write_text(cmake)
    exports = (folder / "sm90.cu").read_text().replace("ScaleSm90", "Scale")
    (folder / "sm90.cc").write_text(SOURCE + exports)
    return folder


def _tries(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    paths = [str(Path(package.__file__).parents[1]) for package in (kernpack, kernpack_sdk)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def _built(project: Path) -> Path:
    done = _tries("kernpack", "build", "--json", cwd=project)
    assert done.returncode == 0, done.stderr
    return project / str(json.loads(done.stdout)["wheel"])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("packs")


@pytest.fixture(scope="module")
def main(place: Path) -> Path:
    return _built(_write_main(place / "main"))


@pytest.fixture(scope="module")
def pack(place: Path) -> Path:
    return _built(_write_pack(place / "pack"))


def _installed(place: Path, name: str, *wheels: Path) -> tuple[Path, list[str]]:
    """A fresh environment's packages, and the words that begin a command of pip's for it."""
    venv = place / name
    assert _tries("venv", "--without-pip", venv, cwd=place).returncode == 0
    pip = ["pip", "--python", str(venv / "bin/python")]
    done = _tries(*pip, "install", "-q", "--no-deps", "--no-index", *wheels, cwd=place)
    assert done.returncode == 0, done.stderr
    (packages,) = venv.glob("lib/python*/site-packages")
    return packages, pip


def _load(monkeypatch: pytest.MonkeyPatch, packages: Path) -> kernpack.Module:
    monkeypatch.syspath_prepend(packages)
    return kernpack.load("my_kernels")


def test_a_pack_holds_its_shared_object_alone(pack: Path) -> None:
    with zipfile.ZipFile(pack) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
    assert names == ["my_kernels/my_kernels_cuda_sm90.so"]
    checked = _tries("kernpack", "check", pack, cwd=pack.parent)
    assert checked.returncode == 0, checked.stdout


def test_both_wheels_are_one_module(place: Path, main: Path, pack: Path, monkeypatch) -> None:
    packages, pip = _installed(place, "both", main, pack)
    k = _load(monkeypatch, packages)
    assert [(each["target"], Path(each["module_path"]).name) for each in k.functions["scale"].variants] == [
        (None, "my_kernels.so"),
        ("cuda -arch=sm_90a", "my_kernels_cuda_sm90.so"),
    ]
    assert k.scale(np.ones(2, np.float32)).tolist() == [2, 2]
    done = _tries(*pip, "uninstall", "-q", "-y", "my-kernels-cuda-sm90", cwd=place)
    assert done.returncode == 0, done.stderr
    assert (packages / "my_kernels/__init__.py").is_file()
    assert [each["target"] for each in kernpack.load("my_kernels").functions["scale"].variants] == [None]


def test_a_pack_of_another_version_is_refused(place: Path, main: Path, monkeypatch) -> None:
    packages, _ = _installed(place, "other", main, _built(_write_pack(place / "later", "2.0.0")))
    with pytest.raises(ValueError, match="install the files of one module together") as caught:
        _load(monkeypatch, packages)
    for said in ("my_kernels.so' is module my_kernels 1.0.0", "my_kernels_cuda_sm90.so' is my_kernels 2.0.0"):
        assert said in str(caught.value)


def test_a_pack_with_python_files_is_refused(place: Path) -> None:
    project = _write_pack(place / "with_python")
    with (project / "CMakeLists.txt").open("a") as cmake:
        cmake.write('file(WRITE ${CMAKE_BINARY_DIR}/__init__.py "")\n')
        cmake.write("install(FILES ${CMAKE_BINARY_DIR}/__init__.py DESTINATION my_kernels)\n")
    said = _tries("kernpack", "build", cwd=project).stderr
    assert "my_kernels/__init__.py: a pack holds shared objects alone" in said


@pytest.mark.parametrize(
    ("name", "needs", "said"),
    [
        (7, [], "pack-of: expected the name of a distribution, such as my-kernels, got 7"),
        ("my kernels", [], "pack-of: expected the name of a distribution"),
        ("ops", ["ops>=1.0"], "write dependencies = [\"ops==1.0\"], got ['ops>=1.0']"),
        ("ops", [], 'write dependencies = ["ops==1.0"], got []'),
    ],
)
def test_what_makes_no_pack(name: object, needs: list[str], said: str) -> None:
    project = {"version": "1.0", "dependencies": needs}
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        packs.of_project({"project": project, "tool": {"kernpack": {"pack-of": name}}})
    assert said in str(caught.value)


def test_the_name_may_be_spelled_as_packaging_tools_do() -> None:
    project = {"version": "1.0", "dependencies": ["numpy", "My_Ops == 1.0"]}
    assert packs.of_project({"project": project, "tool": {"kernpack": {"pack-of": "my-ops"}}}) == "my-ops"
