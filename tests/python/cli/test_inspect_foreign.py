"""`kernpack inspect` of what nobody here built: the wheels of this environment, and a library of a few lines."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import platform
import subprocess
import zipfile
from pathlib import Path

import pytest

LIBRARY = """\
#include <immintrin.h>
char table[5000] = {1};
int first(void) { return table[0]; }
__attribute__((target("avx2"))) int second(const int* x) {
  __m256i y = _mm256_loadu_si256((const __m256i*)x);
  y = _mm256_mullo_epi32(y, y); /* AVX alone has no products of eight integers */
  return _mm256_extract_epi32(y, 3);
}
"""
on_x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the source uses instructions of x86-64")


def _file(package: str, pattern: str) -> Path:
    """The one file of an installed package whose path matches."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        pytest.skip(f"{package} isn't installed")
    (found,) = Path(next(iter(spec.submodule_search_locations))).glob(pattern)
    return found


def _inspect(command, what: Path | str) -> dict:
    done = command("inspect", what, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _build(folder: Path, name: str, *options: str) -> Path:
    source = folder / f"{name}.c"
    source.write_text(LIBRARY)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", *options, source, "-o", folder / f"{name}.so"], check=True)
    source.unlink()
    return folder / f"{name}.so"


@pytest.mark.parametrize(
    ("package", "pattern", "interfaces"),
    [
        ("numpy", "_core/_multiarray_umath.*.so", {"python": "CPython 3"}),
        ("tvm_ffi", "core.*.so", {"tvm-ffi-registry": None, "cython": "CPython 3"}),
        ("tvm_ffi", "lib/libtvm_ffi_testing.so", {"tvm-ffi": None}),
        ("matplotlib", "_path.*.so", {"pybind11": "CPython 3"}),
        ("jaxlib", "cpu/_lapack.so", {"nanobind": None, "xla-ffi": None}),
        ("torch", "lib/libshm.so", {"torch": "the PyTorch release that it was built with"}),
        ("torch", "_C.*.so", {"python": "CPython 3", "torch": "the PyTorch release that it was built with"}),
    ],
)
def test_interfaces_of_well_known_files(command, package: str, pattern: str, interfaces: dict[str, str | None]) -> None:
    (library,) = _inspect(command, _file(package, pattern))["libraries"]
    found = {each["kind"]: each["tie"] for each in library["interfaces"]}
    assert list(found) == list(interfaces)
    for kind, tie in interfaces.items():
        assert (found[kind] or "").startswith(tie) if tie else found[kind] is None


@on_x86_64
def test_a_library_of_functions(command, tmp_path: Path) -> None:
    path = _build(tmp_path, "plain", "-Wl,--no-as-needed")
    (library,) = _inspect(command, path)["libraries"]
    assert library["file"] == "plain.so"
    assert library["interfaces"][0]["kind"] == "library"
    assert library["needs"] == {"libc.so.6": "system"}
    assert library["instruction_sets"] == {"beyond_x86_64_v2": ["avx", "avx2"], "asks_the_processor": False}
    assert library["largest_symbols"]["table"] == 5000
    text = command("inspect", path).stdout
    assert "instruction sets beyond x86-64-v2: avx, avx2; it doesn't ask the processor first" in text
    assert "needs libc.so.6 (system)" in text


@on_x86_64
def test_a_wheel_of_several(command, tmp_path: Path) -> None:
    """A need may be another file of the wheel; equal files are named; a damaged file doesn't hide the rest."""
    base = _build(tmp_path, "libbase")
    user = _build(tmp_path, "user", "-Wl,--no-as-needed", f"-L{tmp_path}", "-l:libbase.so")
    wheel = tmp_path / "several-1.0-py3-none-manylinux_2_28_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(base, "several/libbase.so")
        archive.write(base, "several/again.so")
        archive.write(user, "several/user.so")
        archive.writestr("several/cut.so", base.read_bytes()[:3000])
        archive.writestr(
            "several-1.0.dist-info/METADATA", "Name: several\nRequires-Python: >=3.9\nRequires-Dist: torch==2.9.*\n"
        )
        archive.writestr("several-1.0.dist-info/WHEEL", "Tag: py3-none-manylinux_2_28_x86_64\n")
        archive.writestr("several-1.0.dist-info/RECORD", "")
    found = _inspect(command, wheel)
    assert found["requires"] == {"python": ">=3.9", "wheels": ["torch==2.9.*"]}
    libraries = {each["file"]: each for each in found["libraries"]}
    assert libraries["several/user.so"]["needs"] == {"libbase.so": "here", "libc.so.6": "system"}
    assert found["duplicate_files"] == [["several/again.so", "several/libbase.so"]]
    assert "damaged" in libraries["several/cut.so"]
    text = command("inspect", wheel).stdout
    assert "asks pip for Python >=3.9, torch==2.9.*" in text
    assert "equal files: several/again.so, several/libbase.so" in text
    assert "PROBLEM" in text


def test_an_installed_package_by_pips_name(command) -> None:
    """apache-tvm-ffi is imported as tvm_ffi."""
    importlib.metadata.distribution("apache-tvm-ffi")
    found = _inspect(command, "apache-tvm-ffi")
    assert "lib/libtvm_ffi.so" in {each["file"] for each in found["libraries"]}
