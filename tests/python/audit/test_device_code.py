"""Which code for devices a file holds: fat binaries of nvcc's layout, bare cubins, PTX and OpenCL source."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from kernpack_sdk.audit import Image, device_code
from kernpack_sdk.audit.device_code import DeviceCode
from support.fatbins import entry, fatbin

PTX = b"//\n.version 9.0\n.target sm_80\n.address_size 64\n.visible .entry K() { ret; }\n"
OPENCL = b"// rows\n__kernel void rows(__global float* x) { x[0] = 1; }\nkernel void more(global int* y) { *y = 2; }\n"


def _cubin(architecture: int) -> bytes:
    head = bytearray(64)
    head[:9] = b"\x7fELF\x02\x01\x01\x41\x08"
    struct.pack_into("<HH", head, 16, 2, 190)
    struct.pack_into("<QQI", head, 32, 64, 0, 0x06000004 | architecture << 8)
    struct.pack_into("<HHHH", head, 54, 56, 2, 64, 0)
    return bytes(head) + bytes(2 * 56)


def _object(folder: Path, section: str, content: bytes) -> Path:
    """A shared object with these bytes in a section."""
    (folder / "content.bin").write_bytes(content)
    (folder / "o.s").write_text(f'.section {section},"a"\n.incbin "{folder}/content.bin"\n.section .note.GNU-stack\n')
    subprocess.run(["gcc", "-shared", "-nostdlib", folder / "o.s", "-o", folder / "o.so"], check=True)
    return folder / "o.so"


def _read(file: Path) -> list[DeviceCode]:
    with Image(file) as image:
        return device_code.read(image)


def test_fat_binaries_by_architecture(tmp_path: Path) -> None:
    first = fatbin(entry(2, 80, b"m" * 40), entry(1, 80, b"p" * 16, unpacked=100))
    second = fatbin(
        entry(2, 80, b"n" * 8), entry(2, 90, b"a" * 8, flags=0x100011), entry(2, 100, b"f" * 8, flags=0x200011)
    )
    assert _read(_object(tmp_path, ".nv_fatbin", first + second)) == [
        DeviceCode("cubin", "sm_80", 2, 48, 48, None),
        DeviceCode("cubin", "sm_90a", 1, 8, 8, None),
        DeviceCode("cubin", "sm_100f", 1, 8, 8, None),
        DeviceCode("ptx", "compute_80", 1, 16, 100, None),
    ]


@pytest.mark.parametrize(
    ("kind", "version", "driver"),
    [
        (1, (7, 8), None),
        (1, (8, 0), "12.0"),
        (1, (8, 5), "12.5"),
        (1, (8, 8), "12.9"),
        (1, (9, 0), "13.0"),
        (1, (9, 5), "13.5"),
        (2, (1, 7), None),
        (2, (1, 8), "13.0"),
    ],
)
def test_the_oldest_driver_follows_from_the_codes_version(
    tmp_path: Path, kind: int, version: tuple[int, int], driver: str | None
) -> None:
    (row,) = _read(_object(tmp_path, ".nv_fatbin", fatbin(entry(kind, 80, b"m" * 40, version=version))))
    assert row.cuda_driver == driver


def test_of_several_the_newest_driver_counts(tmp_path: Path) -> None:
    content = fatbin(entry(1, 80, b"p" * 40, version=(9, 1))) + fatbin(entry(1, 80, b"p" * 40, version=(8, 3)))
    assert [row.cuda_driver for row in _read(_object(tmp_path, ".nv_fatbin", content))] == ["13.1"]


def test_what_lies_among_constants(tmp_path: Path) -> None:
    content = b"one\0" + OPENCL + b"\0" + PTX + b"\0" + _cubin(90) + b"text"
    found = _read(_object(tmp_path, ".rodata", content))
    assert [(row.kind, row.architecture) for row in found] == [
        ("cubin", "sm_90"),
        ("opencl", None),
        ("ptx", "compute_80"),
    ]
    assert [row.cuda_driver for row in found] == ["13.0", None, "13.0"]
    assert [row.bytes for row in found] == [len(_cubin(90)), len(OPENCL) - 1, len(PTX.partition(b".version")[2]) + 7]


@pytest.mark.parametrize("cut", [4, 15, 20, 60, 90, 100])
def test_cut_off_fat_binaries_hold_what_is_whole(tmp_path: Path, cut: int) -> None:
    whole = fatbin(entry(2, 80, b"m" * 40))
    assert _read(_object(tmp_path, ".nv_fatbin", whole[:cut])) == []


def test_sizes_that_lie_end_the_reading(tmp_path: Path) -> None:
    changed = bytearray(entry(2, 80, b"m" * 40))
    struct.pack_into("<Q", changed, 8, 1 << 62)
    assert _read(_object(tmp_path, ".nv_fatbin", fatbin(bytes(changed)))) == []


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc: the CUDA toolkit is not installed")
def test_what_nvcc_makes(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text("__global__ void K(float* x) { x[threadIdx.x] *= 2; }\n")
    codes = ["-gencode=arch=compute_80,code=[sm_80,compute_80]", "-gencode=arch=compute_90a,code=sm_90a"]
    object_file = tmp_path / "k.o"
    subprocess.run(["nvcc", "-c", "-Xfatbin=-compress-all", *codes, source, "-o", object_file], check=True)
    subprocess.run(["gcc", "-shared", "-nostdlib", object_file, "-o", tmp_path / "k.so"], check=True)
    found = _read(tmp_path / "k.so")
    assert [row.architecture for row in found] == ["sm_80", "sm_90a", "compute_80"]
    assert all(0 < row.bytes < row.unpacked_bytes for row in found if row.kind == "cubin")
