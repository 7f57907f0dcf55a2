"""Exported modules and wheels: they load where there is no compiler, and are what `kernpack check` wants."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import kernpack
import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
import kernpack_compiler as kc
from built import MODULE, expected_softmax, rows, scale
from elftools.elf.elffile import ELFFile
from kernpack_compiler import ir
from kernpack_sdk import check, elf

KINDS = [kind for kind in ("c", "llvm") if kind in kc.list_generators()]


@pytest.fixture(scope="module", params=KINDS)
def built(request) -> kc.BuiltModule:
    return kc.build(MODULE, request.param)


@pytest.fixture(scope="module")
def library(built: kc.BuiltModule, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built.export_library(tmp_path_factory.mktemp("exported") / "generated.so")


def test_a_library_is_a_sound_module(library: Path) -> None:
    assert check.check_module(library) == []
    k = kernpack.load(library)
    np.testing.assert_allclose(k.softmax(rows()), expected_softmax(rows()), rtol=2e-6)
    assert k.name == "generated"


@pytest.mark.parametrize("kind", KINDS)
def test_a_library_is_written_without_being_loaded(kind: str, tmp_path: Path) -> None:
    text = str(ir.IRModule([scale], f"unloaded_{kind}"))
    path = kc.export_library(text, tmp_path / "unloaded.so", kind)
    np.testing.assert_array_equal(kernpack.load(path).scale(np.ones(3, np.float32), 2.0), [2, 2, 2])
    with pytest.raises(TypeError, match=r"export_library: expected an IRModule, a PrimFunc or their text, got int"):
        kc.export_library(1, tmp_path / "k.so", kind)  # type: ignore[arg-type]


def test_a_library_asks_for_nothing_of_cpp(library: Path) -> None:
    """Weak names too: a library that has none of C++'s would be called at address 0."""
    with library.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        assert [s.name for s in symbols if s["st_shndx"] == "SHN_UNDEF" and s.name.startswith("_Z")] == []


def test_a_library_loads_without_tools(library: Path) -> None:
    program = (
        f"import kernpack; k = kernpack.load({str(library)!r}); print(*k.scale(kernpack.zeros((3,), 'f32'), 2.0).shape)"
    )
    environment = {**os.environ, "PATH": "", "KERNPACK_CC": "/nonexistent"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")


def test_an_exported_gradient_is_found(library: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x = torch.from_numpy(rows()).requires_grad_()
    kernpack.load(library).softmax(x).square().sum().backward()
    (theirs,) = torch.autograd.grad(torch.softmax(x, -1).square().sum(), x)
    torch.testing.assert_close(x.grad, theirs, rtol=1e-4, atol=1e-6)


@pytest.fixture(scope="module")
def installed(built: kc.BuiltModule, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A wheel of two modules, and the folder that it is installed in."""
    folder = tmp_path_factory.mktemp("wheel")
    doubled = kc.build(
        ir.IRModule([ir.PrimFunc.parse(str(scale).replace("scale", "doubled"))], "generated"), built.target
    )
    wheel = kc.export_wheel([built, doubled], folder, "My-Kernels", "1.2.0", summary="softmax and more")
    site = folder / "site"
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        str(site),
        str(wheel),
    ]
    subprocess.run(command, check=True)
    return wheel, site


def test_a_wheel_is_for_every_python_and_audited(installed: tuple[Path, Path]) -> None:
    wheel, _ = installed
    assert wheel.name.startswith("my_kernels-1.2.0-py3-none-manylinux_2_")
    assert [finding.text for finding in check.audit_wheel(wheel) if finding.serious] == []


def test_an_installed_wheel_is_found_by_name(installed: tuple[Path, Path]) -> None:
    _, site = installed
    program = (
        "import kernpack, numpy as np\n"
        "k = kernpack.load('my_kernels')\n"
        "import my_kernels\n"
        "x = np.ones((2, 4), np.float32)\n"
        "assert (my_kernels.softmax(x) == 0.25).all()\n"
        "print(kernpack.installed()['my_kernels'], *sorted(k.functions))\n"
    )
    environment = {**os.environ, "PATH": "", "PYTHONPATH": f"{site}:{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert (done.stdout, done.stderr) == ("my_kernels doubled scale softmax softmax_backward\n", "")
    assert "def softmax(x: _Array" in (site / "my_kernels" / "__init__.pyi").read_text()


def test_a_wheel_is_made_for_another_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if "llvm" not in KINDS:
        pytest.skip("there is no generator of kind llvm")
    built = kc.build(MODULE, "llvm")
    try:
        wheel = kc.export_wheel([built], tmp_path, "my-kernels", "1.2.0", target="llvm -mtriple=aarch64-linux-gnu")
    except (RuntimeError, NotImplementedError) as error:
        if not any(reason in str(error) for reason in ("no linker", "was built without")):
            raise
        pytest.skip(str(error))
    assert wheel.name == "my_kernels-1.2.0-py3-none-manylinux_2_28_aarch64.whl"
    assert capsys.readouterr().out == ""
    assert check.covers("manylinux_2_28_aarch64", check.platform_tag(wheel))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    package = tmp_path / "my_kernels"
    assert sorted(path.name for path in package.iterdir()) == [
        "__init__.py",
        "__init__.pyi",
        "my_kernels.so",
        "py.typed",
    ]
    assert elf.read(package / "my_kernels.so").machine == "EM_AARCH64"
    assert "def softmax(x: _Array" in (package / "__init__.pyi").read_text()


@pytest.mark.parametrize(
    ("name", "version", "message"),
    [
        ("../evil", "1.0", "name: expected a package's name such as 'my-kernels', got '../evil'"),
        ("", "1.0", "name: expected"),
        ("good", "1.0/../..", "version: expected a version such as '1.0.0', got '1.0/../..'"),
        ("good", "", "version: expected"),
    ],
)
def test_names_that_no_wheel_may_have(name: str, version: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        kc.build(scale, "c").export_wheel(tmp_path, name, version)
    assert list(tmp_path.iterdir()) == []


def test_a_wheel_needs_a_module(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected at least one module"):
        kc.export_wheel([], tmp_path, "empty", "1.0")
    with pytest.raises(ValueError, match="expected modules of one name, got first, second"):
        kc.export_wheel([kc.build(ir.IRModule([scale], name), "c") for name in ("first", "second")], tmp_path, "x", "1")


def test_a_missing_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = kc.build(scale, "c")
    monkeypatch.setenv("KERNPACK_CC", "/nonexistent/cc")
    with pytest.raises(RuntimeError, match=r"cannot run the C compiler '/nonexistent/cc'; set KERNPACK_CC"):
        built.export_library(tmp_path / "k.so")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises((OSError, RuntimeError), match=r"missing"):
        kc.build(scale, "c").export_library(tmp_path / "missing" / "k.so")
