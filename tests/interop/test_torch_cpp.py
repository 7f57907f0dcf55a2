"""Packages that AOTInductor makes of our operators run without Python, in examples/torch_cpp, which is compiled here, and in Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.host import INCLUDE, ROOT, library_path

torch = pytest.importorskip("torch", reason="torch is not installed")

EXAMPLE = ROOT / "examples" / "torch_cpp"
PACKAGE = """
import sys
import kernpack, torch

k = kernpack.load("kernpack_kernels")

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(0.5, 1.5, 8), requires_grad=False)

    def forward(self, x):
        return k.gelu(k.rms_norm(x * 2, self.weight), approximate="tanh").sum(-1)

block, x = Block(), torch.arange(32.0).reshape(4, 8)
rows = torch.export.Dim("rows", min=2, max=64)
program = torch.export.export(block, (x,), dynamic_shapes=({0: rows},))
torch._inductor.aoti_compile_and_package(program, package_path=sys.argv[1])
print(*(f"{value:.4f}" for value in block(x).tolist()))
print(k.path)
"""

LOAD = """
import sys
import kernpack, torch

try:
    torch._inductor.aoti_load_package(sys.argv[1])
except RuntimeError as error:
    print("schema for kernpack_kernels" in str(error))  # a package names operators: their module is loaded first
kernpack.load("kernpack_kernels")
compiled = torch._inductor.aoti_load_package(sys.argv[1])
print(*(f"{value:.4f}" for value in compiled(torch.arange(32.0).reshape(4, 8)).tolist()))
"""


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, env=os.environ | environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def python(code: str, *arguments: str | Path) -> str:
    return run(sys.executable, "-c", code, *arguments, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = Path(torch.__file__).parent
    target = tmp_path_factory.mktemp("torch_cpp") / "torch_cpp"
    includes = [f"-I{INCLUDE}", f"-I{base / 'include'}", f"-I{base / 'include/torch/csrc/api/include'}"]
    folders = [base / "lib", library_path().parent]
    libraries = [f"-L{f}" for f in folders] + [f"-Wl,-rpath,{f}" for f in folders]
    libraries += ["-Wl,--no-as-needed", "-ltorch", "-ltorch_cpu", "-lc10", "-lkernpack"]
    run(os.environ.get("CXX", "g++"), "-std=c++20", "-O1", *includes, EXAMPLE / "main.cpp", "-o", target, *libraries)
    return target


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], str]:
    """A package that AOTInductor makes with kernels; the expected results; the path of the kernels."""
    package = tmp_path_factory.mktemp("package") / "block.pt2"
    expected, module = python(PACKAGE, package).splitlines()
    return package, expected.split(), module


def test_a_compiled_program_runs_without_python(program: Path, package: tuple[Path, list[str], str]) -> None:
    file, expected, module = package
    output = run(program, module, file)
    assert [f"{float(text):.4f}" for text in output.splitlines()[:4]] == expected


def test_a_compiled_program_runs_in_python(package: tuple[Path, list[str], str]) -> None:
    file, expected, _ = package
    assert python(LOAD, file).split() == ["True", *expected]


def test_a_module_that_is_none_is_a_clear_error(program: Path, tmp_path: Path) -> None:
    done = subprocess.run([program, tmp_path / "missing.so"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "missing.so" in done.stderr
