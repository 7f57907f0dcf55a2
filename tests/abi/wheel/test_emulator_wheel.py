"""The wheel of the emulated device is for every Python, needs nothing, and exports the driver's and the runtime's API only."""

from __future__ import annotations

from pathlib import Path

from kernpack_sdk import check, elf


def test_the_wheel_is_for_every_python_and_glibc_2_28(emulator_wheel: Path) -> None:
    assert emulator_wheel.name.endswith("-py3-none-manylinux_2_28_x86_64.whl")
    assert check.covers("manylinux_2_28_x86_64", check.platform_tag(emulator_wheel))


def test_what_the_library_needs_and_exports(emulator: Path) -> None:
    (library,) = emulator.rglob("*.so")
    assert library == emulator / "kernpack_cuda_emulator/libkernpack_cuda_emulator.so"
    so = elf.read(library)
    assert {"cuGetProcAddress_v2", "cudaLaunchKernel", "__cudaRegisterFatBinary"} <= set(so.exports)
    assert [name for name in so.exports if not name.startswith(("cu", "__cuda", "nvml", "kernpack_emulator_"))] == []
    assert [name for name in so.needed if not check.RUNTIME_LIBRARIES.match(name)] == []
    assert so.full_relro
    assert not so.executable_stack


def test_libraries_under_nvidias_names(emulator: Path) -> None:
    """As programs ask for them: by SONAME and, of the runtime library, by its version."""
    libraries = sorted((emulator / "kernpack_cuda_emulator/drop_in").iterdir())
    assert [library.name for library in libraries] == [
        "libcuda.so.1", "libcudart.so.12", "libcudart.so.13", "libnvidia-ml.so.1",
    ]  # fmt: skip
    for library in libraries:
        so = elf.read(library)
        prefixes = {"cuda": ("cu",), "cudart": ("cuda", "__cuda"), "nvidia-ml": ("nvml",)}[
            library.name[3:].split(".")[0]
        ]
        assert [name for name in so.exports if not name.startswith((*prefixes, library.name))] == []
        assert {"cuda": "cuInit", "cudart": "cudaMalloc", "nvidia-ml": "nvmlInit_v2"}[
            library.name[3:].split(".")[0]
        ] in so.exports
        assert [name for name in so.needed if not check.RUNTIME_LIBRARIES.match(name)] == []
        assert so.full_relro
        assert not so.executable_stack


def test_it_needs_no_other_package(emulator: Path) -> None:
    (info,) = emulator.glob("*.dist-info")
    assert "\nRequires-Dist:" not in (info / "METADATA").read_text()
