"""The kernel wheel is one for every Python, true to its tag, self-contained, and holds code for three CPU levels."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest
from kernpack_sdk import check, elf, table
from packaging.requirements import Requirement


@pytest.fixture(scope="module")
def module(kernels: Path) -> Path:
    (path,) = kernels.rglob("*.so")
    return path


def test_the_wheel_is_for_any_python_on_x86_64(kernels_wheel: Path) -> None:
    assert kernels_wheel.name.endswith("-py3-none-manylinux_2_28_x86_64.whl")


def test_check_finds_no_problem(kernels_wheel: Path) -> None:
    assert check.check(kernels_wheel) == []


def test_exports_the_query_and_one_alias_a_function(module: Path) -> None:
    names = {function.name for function in table.read(module)}
    assert len(names) >= 7
    assert set(elf.read(module).exports) == {"kp_module_v1"} | {f"__tvm_ffi_{name}" for name in names}


def test_needs_only_runtime_libraries(module: Path) -> None:
    so = elf.read(module)
    assert [n for n in so.needed if not check.RUNTIME_LIBRARIES.match(n)] == []
    assert so.runpath == ()
    assert so.full_relro


@pytest.mark.parametrize("register", ["xmm", "ymm", "zmm"])
def test_holds_code_for_each_level(module: Path, register: str) -> None:
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", module], capture_output=True, text=True, check=True)
    assert re.search(rf"%{register}\d", code.stdout)


def test_does_not_change_the_floating_point_state(module: Path) -> None:
    # crtfastmath.o sets bits of the control register in a constructor.
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", module], capture_output=True, text=True, check=True)
    assert "ldmxcsr" not in code.stdout


def test_stub_declares_every_function(module: Path) -> None:
    stub = ast.parse((module.parent / "__init__.pyi").read_text())
    declared = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    assert declared == {function.name for function in table.read(module)}
    assert (module.parent / "py.typed").is_file()


def test_is_found_by_its_entry_point(kernels: Path) -> None:
    (info,) = kernels.glob("*.dist-info")
    assert "[kernpack.modules]\nkernpack_kernels = kernpack_kernels" in (info / "entry_points.txt").read_text()
    requires = re.findall(r"^Requires-Dist: (.*)$", (info / "METADATA").read_text(), re.MULTILINE)
    (version,) = re.findall(r"^Version: (.*)$", (info / "METADATA").read_text(), re.MULTILINE)
    # The code for CUDA devices is a wheel of its own: nobody gets it who doesn't ask for it.
    assert {Requirement(each) for each in requires} == {
        Requirement("kernpack>=0.1,<2"),
        Requirement(f'kernpack-kernels-cuda=={version} ; extra == "cuda"'),
    }
