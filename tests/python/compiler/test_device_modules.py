"""Modules whose code runs on OpenCL devices: built, exported and loaded without a compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import kernpack
import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
import kernpack_compiler as kc
from built import MODULE, expected_softmax, rows
from handles import Handle
from kernpack_sdk import check

if "llvm" not in kc.list_generators():
    pytest.skip("without the generator of kind llvm, a C compiler makes the host's half", allow_module_level=True)


@pytest.fixture(scope="module")
def linker_alone(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH with a linker and nothing else: export_library() needs one, and so does PoCL for each kernel that it compiles."""
    folder = tmp_path_factory.mktemp("path")
    (folder / "ld").symlink_to(shutil.which("ld") or pytest.skip("there is no ld"))
    return str(folder)


@pytest.fixture(scope="module")
def library(linker_alone: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", linker_alone)
        return kc.export_library(MODULE, tmp_path_factory.mktemp("exported") / "generated_opencl.so", "opencl")


@pytest.fixture(scope="module")
def opencl() -> kernpack.Device:
    found = kernpack.devices("opencl")
    if not found:
        pytest.skip("no OpenCL device: " + kernpack.info()["devices"]["opencl"])
    return found[0]


def test_a_module_is_built_without_a_compiler(
    linker_alone: str, opencl: kernpack.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", linker_alone)
    k = kc.build(MODULE, "opencl")
    found = k.softmax(kernpack.from_dlpack(rows()).to(opencl))
    assert found.device == opencl
    np.testing.assert_allclose(found.to("cpu").numpy(), expected_softmax(rows()), rtol=2e-6)


def test_a_library_is_a_sound_module_without_needs(library: Path) -> None:
    assert check.check_module(library) == []
    assert set(kernpack.load(library).functions["softmax"].targets) == {"opencl"}


def test_a_library_loads_where_there_is_no_program(library: Path) -> None:
    program = f"import kernpack; print(*kernpack.load({str(library)!r}).functions['scale'].targets)"
    environment = {**os.environ, "PATH": ""}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "opencl\n", "")


def test_a_library_runs_where_there_is_no_compiler(
    library: Path, linker_alone: str, opencl: kernpack.Device, tmp_path: Path
) -> None:
    np.save(tmp_path / "x.npy", rows(33, 100))
    program = (
        "import kernpack, numpy as np\n"
        f"k = kernpack.load({str(library)!r})\n"
        f"x = kernpack.from_dlpack(np.load({str(tmp_path / 'x.npy')!r})).to({str(opencl)!r})\n"
        f"np.save({str(tmp_path / 'y.npy')!r}, k.softmax(x).to('cpu').numpy())\n"
    )
    environment = {**os.environ, "PATH": linker_alone}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), expected_softmax(rows(33, 100)), rtol=2e-6)


def test_the_processor_is_told_what_runs_a_library(library: Path) -> None:
    with pytest.raises(RuntimeError, match=r"softmax.*opencl"):
        kernpack.load(library).softmax(rows())


def test_a_library_runs_under_apache_tvm_ffi(library: Path, opencl: kernpack.Device) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi", reason="apache-tvm-ffi is not installed")
    theirs = tvm_ffi.load_module(str(library))
    x, y = kernpack.from_dlpack(rows()).to(opencl), kernpack.zeros((4, 21), "f32", opencl)
    given = [Handle(t) for t in (x, y)]
    theirs.softmax(*map(tvm_ffi.from_dlpack, given))  # with memory of the device for its exponentials
    np.testing.assert_allclose(y.to("cpu").numpy(), expected_softmax(rows()), rtol=2e-6)
    row, out = kernpack.from_dlpack(rows()[0]).to(opencl), kernpack.zeros((21,), "f32", opencl)
    given += [Handle(t) for t in (row, out)]
    theirs.scale(tvm_ffi.from_dlpack(given[2]), 2.0, tvm_ffi.from_dlpack(given[3]))
    np.testing.assert_array_equal(out.to("cpu").numpy(), 2 * rows()[0])


def test_wrong_arguments_are_told_under_apache_tvm_ffi_as_here(library: Path, opencl: kernpack.Device) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi", reason="apache-tvm-ffi is not installed")
    row, short = kernpack.zeros((21,), "f32", opencl), kernpack.zeros((20,), "f32", opencl)
    theirs, given = tvm_ffi.load_module(str(library)), (Handle(row), Handle(short))
    x, out = map(tvm_ffi.from_dlpack, given)
    with pytest.raises(ValueError, match="scale: out: ") as there:
        theirs.scale(x, 1.0, out)
    with pytest.raises(ValueError, match="scale: out: ") as here:
        kernpack.load(library).scale(row, 1.0, out=short)
    assert str(there.value) == str(here.value)


@pytest.mark.parametrize("damage", ["changed", "missing"])
def test_device_code_that_was_not_built_so_is_refused(library: Path, damage: str, tmp_path: Path) -> None:
    bytes_ = library.read_bytes()
    program = bytes_.index(b"#pragma OPENCL")
    end = bytes_.index(b"\0", program)
    wrong = b"#pragma openCL" + bytes_[program + 14 : end] if damage == "changed" else bytes(end - program)
    broken = tmp_path / "broken.so"
    broken.write_bytes(bytes_[:program] + wrong + bytes_[end:])
    message = "the device code for 'opencl' inside this module is not what was built; build or install the module again"
    with pytest.raises(ImportError, match=message):
        kernpack.load(broken)


def test_the_host_of_a_library_may_be_another_processor(tmp_path: Path) -> None:
    target = "opencl -host='llvm -mtriple=aarch64-linux-gnu'"
    try:
        library = kc.export_library(MODULE, tmp_path / "aarch64.so", target)
    except (NotImplementedError, ValueError, RuntimeError) as missing:  # LLVM's target, the frame's compiler, a linker
        pytest.skip(f"no tools for aarch64: {missing}")
    assert int.from_bytes(library.read_bytes()[18:20], "little") == 183  # e_machine: EM_AARCH64
    with pytest.raises(ValueError, match="does not run on this machine; export it instead"):
        kc.build(MODULE, target)
