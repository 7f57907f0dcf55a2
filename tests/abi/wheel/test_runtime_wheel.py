"""The runtime wheel is what its tags say, exports the C API and nothing else, and is small."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from kernpack_sdk import check, elf

ROOT = Path(__file__).resolve().parents[3]
PLUGINS = ["libkernpack_cuda.so", "libkernpack_opencl.so"]
SHARED_OBJECTS = ["libkernpack.so", "_core.abi3.so", *PLUGINS]


def test_the_wheel_is_for_every_python_from_3_11_and_glibc_2_28(runtime_wheel: Path) -> None:
    assert runtime_wheel.name.endswith("-cp311-abi3-manylinux_2_28_x86_64.whl")


def test_platform_tag_is_true(runtime_wheel: Path) -> None:
    assert check.covers("manylinux_2_28_x86_64", check.platform_tag(runtime_wheel))


def test_the_oldest_host_of_its_backends_can_be_read(runtime_wheel: Path) -> None:
    assert check.hosts_of_wheel(runtime_wheel) == ["runs on hosts of ABI 1.0 and newer"]


def test_abi3_tag_is_true(runtime_wheel: Path) -> None:
    audit = subprocess.run(
        [sys.executable, "-m", "abi3audit", "--strict", "--report", str(runtime_wheel)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert audit.returncode == 0, audit.stdout + audit.stderr
    assert "_core.abi3.so" in audit.stdout  # it did look at the extension


def test_the_wheel_is_below_2_mib(runtime_wheel: Path) -> None:
    assert runtime_wheel.stat().st_size < 2 * 1024 * 1024


def test_library_exports_what_the_headers_declare(runtime: Path) -> None:
    declared = set()
    for header in (ROOT / "ffi/include/kernpack/host").glob("*.h"):
        declared |= set(re.findall(r"^KP_HOST_API\b[^;]*?\b(kp_\w+)\s*\(", header.read_text(), re.MULTILINE))
    assert len(declared) > 50
    assert set(elf.read(runtime / "kernpack/libkernpack.so").exports) == declared


def test_extension_exports_its_init_function(runtime: Path) -> None:
    assert elf.read(runtime / "kernpack/_core.abi3.so").exports == ("PyInit__core",)


@pytest.mark.parametrize("name", PLUGINS)
def test_plugins_export_their_query(runtime: Path, name: str) -> None:
    assert elf.read(runtime / "kernpack" / name).exports == ("kp_backend_v1",)


@pytest.mark.parametrize("name", SHARED_OBJECTS)
def test_needs_only_runtime_libraries(runtime: Path, name: str) -> None:
    needed = elf.read(runtime / "kernpack" / name).needed
    others = [n for n in needed if not check.RUNTIME_LIBRARIES.match(n) and n != "libkernpack.so"]
    assert others == []
    assert "libstdc++.so.6" not in needed  # the runtime brings its own C++ library, hidden


@pytest.mark.parametrize("name", SHARED_OBJECTS)
def test_is_hardened(runtime: Path, name: str) -> None:
    so = elf.read(runtime / "kernpack" / name)
    assert so.full_relro
    assert not so.executable_stack
    assert all(p == "$ORIGIN" for p in so.runpath)


def test_the_wheel_requires_no_other_package(runtime: Path) -> None:
    (info,) = runtime.glob("*.dist-info")
    metadata = (info / "METADATA").read_text()
    assert "\nRequires-Dist:" not in metadata


def test_names_lines_in_backtraces_with_libbacktrace_whose_notice_it_carries(runtime: Path) -> None:
    library = (runtime / "kernpack/libkernpack.so").read_bytes()
    assert b"no debug info in ELF executable" in library  # a message of libbacktrace's
    (notice,) = runtime.glob("*.dist-info/licenses/LICENSES/libbacktrace.txt")
    assert "Redistributions in binary form must reproduce" in notice.read_text()


def test_holds_only_what_is_used_at_run_time(runtime: Path) -> None:
    files = [p for p in runtime.glob("kernpack/**/*") if p.is_file()]
    assert {p.name for p in files if p.suffix not in (".py", ".pyi")} == {*SHARED_OBJECTS, "py.typed"}


def test_the_command_is_the_runtimes(runtime_wheel: Path) -> None:
    with zipfile.ZipFile(runtime_wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt")]
        assert "kernpack = kernpack._cli:main" in archive.read(name).decode()
