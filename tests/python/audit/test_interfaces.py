"""`kernpack inspect` on shared objects that aren't kernel modules: the interfaces by which they are called, and their needs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from audit_inputs import Pack
from click.testing import CliRunner
from kernpack_sdk.audit.interfaces import interfaces
from kernpack_sdk.commands import inspect
from support.wheel_libraries import library

INIT = "void PyInit_x(void) {}\n"
TORCH = "extern void _ZN2at6detail5emptyEv(void); void f(void) { _ZN2at6detail5emptyEv(); }\n"


def compiled(path: Path, code: str) -> Path:
    command = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(path)]
    subprocess.run(command, input=code, text=True, check=True)
    return path


@pytest.mark.parametrize(
    ("name", "code", "found"),
    [
        ("x.so", "int plain;", []),
        ("x.so", "void __tvm_ffi_scale(void) {}", ["apache-tvm-ffi"]),
        ("x.cpython-313t-x86_64-linux-gnu.so", INIT, ["Python extension for CPython 3.13t alone"]),
        (
            "x.abi3.so",
            INIT + 'char a[] = "nanobind";',
            ["Python extension for several versions of Python (abi3), made with nanobind"],
        ),
        ("x.so", INIT + 'char a[] = "pybind11";', ["Python extension, made with pybind11"]),
        ("x.so", INIT + 'char a[] = "cython_runtime";', ["Python extension, made with Cython"]),
        ("x.so", TORCH, ["torch's C++ API, which changes with each minor release of torch"]),
        ("x.so", "extern void aoti_torch_empty(void); void f(void) { aoti_torch_empty(); }", ["torch's stable C API"]),
        ("x.so", 'char a[] = "XLA_FFI_Handler";', ["XLA FFI"]),
    ],
)
def test_interfaces(tmp_path: Path, name: str, code: str, found: list[str]) -> None:
    assert interfaces(compiled(tmp_path / name, code)) == found


def test_inspect_shows_a_wheel_without_kernel_modules(pack: Pack, tmp_path: Path) -> None:
    stub = library(tmp_path / "libcublas.so.13")
    extension = tmp_path / "ops.abi3.so"
    command = [
        "gcc",
        "-shared",
        "-fPIC",
        "-x",
        "c",
        "-",
        "-x",
        "none",
        "-Wl,--no-as-needed",
        str(stub),
        "-o",
        str(extension),
    ]
    subprocess.run(command, input=INIT + TORCH, text=True, check=True)
    wheel = pack({"ops/ops.abi3.so": extension, "ops/libs/libown.so.1": compiled(tmp_path / "libown.so.1", "int a;")})
    shown = CliRunner().invoke(inspect.command, [str(wheel)])
    assert shown.exit_code == 0, shown.output
    assert (
        "not a kernel module; interfaces: Python extension for several versions of Python (abi3); torch's C++ API"
        in shown.output
    )
    assert "needs libcublas.so.13 (nvidia-cublas>=13,<14)" in shown.output
    assert "not a kernel module; interfaces: none that is known" in shown.output
    found = json.loads(CliRunner().invoke(inspect.command, [str(wheel), "--json"]).output)
    assert [each["file"] for each in found["others"]] == ["libown.so.1", "ops.abi3.so"]
    assert found["modules"] == []
