"""The files of docs/cookbook.md, taken from the page: each is built, and prints the same before and after."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import kernpack
import numpy as np
import pytest
from blocks import ROOT, read_blocks
from kernpack_sdk import flags

_NAME = re.compile(r"(?://|#) (\S+)\n")


def _run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every file of the page, and the kernel, built by the command that the page prints."""
    place = tmp_path_factory.mktemp("cookbook")
    for block in read_blocks(ROOT / "docs/cookbook.md"):
        if name := _NAME.match(block.text):
            (place / name[1]).parent.mkdir(exist_ok=True)
            (place / name[1]).write_text(block.text)
    (command,) = [b.text for b in read_blocks(ROOT / "docs/cookbook.md") if b.language == "bash"]
    command = command.replace("$(kernpack config --cflags)", shlex.join(flags.compile_flags()))
    command = command.replace("$(kernpack config --ldflags)", shlex.join(flags.link_flags(compiles=True)))
    _run("bash", "-euc", command, folder=place)
    return place


def _torch() -> list[str]:
    from torch.utils import cpp_extension

    libraries = cpp_extension.library_paths()
    return [
        *("-std=c++20", "-O1", *(f"-I{path}" for path in cpp_extension.include_paths())),
        *(f"-L{path}" for path in libraries),
        *("-lc10", "-ltorch_cpu", "-ltorch"),
    ]


def _tvm_ffi() -> list[str]:
    from tvm_ffi import libinfo

    paths = {libinfo.find_include_path(), libinfo.find_dlpack_include_path()}
    library = Path(libinfo.find_libtvm_ffi())
    return ["-std=c++17", *(f"-I{path}" for path in sorted(paths)), str(library), f"-Wl,-rpath,{library.parent}"]


def _jax() -> list[str]:
    import jax

    return ["-std=c++17", f"-I{jax.ffi.include_dir()}"]


def _nanobind() -> list[str]:
    import nanobind

    source = Path(nanobind.source_dir())
    headers = [sysconfig.get_path("include"), nanobind.include_dir(), str(source.parent / "ext/robin_map/include")]
    return ["-std=c++17", "-fno-strict-aliasing", *(f"-I{path}" for path in headers), str(source / "nb_combined.cpp")]


@pytest.mark.parametrize(
    ("port", "needs"), [("torch", _torch), ("tvm_ffi", _tvm_ffi), ("jax", _jax), ("nanobind", _nanobind)]
)
def test_an_extension_prints_the_same_before_and_after(port: str, needs, folder: Path) -> None:
    options = needs()
    _run("g++", "-shared", "-fPIC", f"{port}_before.cc", *options, "-o", f"{port}_before.so", folder=folder)
    before = _run(sys.executable, f"{port}_before.py", folder=folder)
    assert before.count("-0.26") >= 1  # swish(-1)
    assert _run(sys.executable, f"{port}_after.py", folder=folder) == before


@pytest.mark.parametrize("recipe", ["gradients", "rope", "debugging"])
def test_a_recipe_prints_the_same_before_and_after(recipe: str, folder: Path) -> None:
    before = _run(sys.executable, f"{recipe}_before.py", folder=folder)
    assert before.strip() != ""
    assert _run(sys.executable, f"{recipe}_after.py", folder=folder) == before


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc: the CUDA toolkit is not installed")
def test_the_cuda_project_becomes_a_wheel(folder: Path) -> None:
    """Without a GPU its kernel refuses tensors of the CPU."""
    build = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", "-w", "dist", ".")
    _run(*build, folder=folder / "gpu")
    (wheel,) = (folder / "gpu/dist").glob("gpu_scale-1.0.0-py3-none-manylinux_*_x86_64.whl")
    _run(sys.executable, "-m", "kernpack", "check", wheel, folder=folder)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "gpu/site")
    (module,) = (folder / "gpu/site/gpu_scale").glob("*.so")
    k = kernpack.load(module)
    with pytest.raises(ValueError, match="scale: expected tensors on cuda, got cpu"):
        k.scale(np.ones(3, np.float32))
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if torch.cuda.is_available():
        assert k.scale(torch.ones(3, device="cuda")).tolist() == [2, 2, 2]


def test_a_caller_that_stays_with_tvm_ffi_loads_the_kernel(folder: Path) -> None:
    program = "import torch, tvm_ffi; m = tvm_ffi.load_module('./swish.so'); print(m.swish(torch.tensor([-1.0]), 1.0))"
    assert "-0.26" in _run(sys.executable, "-c", program, folder=folder)
