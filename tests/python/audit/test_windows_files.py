"""`kernpack check` and `inspect` of files for Windows: facts, planted faults, wheels, and files that are broken."""

from __future__ import annotations

import contextlib
import random
import struct
import sys
from pathlib import Path

import pytest
from audit_inputs import Pack, problems
from kernpack_sdk import check, contents, hosts, shared_object, table
from kernpack_sdk.audit import Image, tables
from support import windows


@pytest.fixture(scope="module")
def dll(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return windows.build(tmp_path_factory.mktemp("windows"))


def _headers(content: bytes) -> tuple[int, int]:
    """Where the optional header begins, and the table of sections."""
    (at,) = struct.unpack_from("<I", content, 60)
    (size,) = struct.unpack_from("<H", content, at + 20)
    return at + 24, at + 24 + size


def _patched(dll: Path, path: Path, at: int, data: bytes) -> Path:
    content = bytearray(dll.read_bytes())
    content[at : at + len(data)] = data
    path.write_bytes(content)
    return path


def test_facts(dll: Path) -> None:
    so = shared_object.read(dll)
    assert so.is_pe
    assert so.exports == ("kp_module_v1",)
    assert so.needed == ("KERNEL32.dll",)
    assert shared_object.MACHINES[so.machine] == "x86-64"
    assert check.audit(dll) == []
    assert "needs KERNEL32.dll, runs on hosts of ABI 1.0 and newer" in check.describe(dll)
    assert hosts.read(dll).oldest == (1, 0)
    (function,) = table.read(dll)
    assert (function.name, function.signature, function.doc) == ("copy", "(x: f32[N]) -> (out: f32[N])", "Copies.")


def test_the_image(dll: Path) -> None:
    with Image(dll) as image:
        assert image.is_x86_64
        assert set(image.imports.values()) == {"GetCurrentProcessId"}
        assert "kp_module_v1" in image.symbols.values()
        ((variant,),) = [module.variants for module in tables.modules(image)]
        assert image.find_start(variant.address) == variant.address


def test_inspect(dll: Path) -> None:
    ((module,),) = [contents.facts(str(dll))["modules"]]
    assert (module["machine"], module["needs"], module["problems"]) == ("x86-64", ["KERNEL32.dll"], [])
    assert module["functions"][0]["instruction_sets"] == {"baseline": []}


def test_another_machine(tmp_path: Path) -> None:
    built = windows.build(tmp_path, target="aarch64")
    assert shared_object.MACHINES[shared_object.read(built).machine] == "aarch64"
    assert check.audit(built) == []


def test_instructions_above_the_baseline(tmp_path: Path) -> None:
    wide = "__attribute__((target(\"avx2\"), noinline)) static void widen(float* x) {\n" \
           "  for (int i = 0; i < 64; ++i) x[i] = x[i] * 3.0f + 1.0f;\n}\n"  # fmt: skip
    source = windows.MODULE.replace("static int copy", wide + "static int copy", 1)
    source = source.replace("  return self ||", "  if (n > 1) widen((float*)result);\n  return self ||")
    (problem,) = check.check(windows.build(tmp_path, source))
    assert problem.startswith("my_kernels.dll: copy: its code for any processor (the baseline, x86-64-v2) uses avx")
    assert "VARIANTS of kernpack_add_module()" in problem


def test_a_library_that_windows_lacks(tmp_path: Path) -> None:
    source = windows.MODULE + "__declspec(dllimport) void cudaFree(void*);\nvoid* use = (void*)&cudaFree;\n"
    (tmp_path / "cudart.def").write_text("LIBRARY cudart64_13.dll\nEXPORTS\ncudaFree\n")
    windows.subprocess.run(
        [sys.executable, "-m", "ziglang", "dlltool", "-m", "i386:x86-64", "-d", "cudart.def", "-l", "libcudart.a"],
        cwd=tmp_path,
        check=True,
    )
    (problem,) = check.check(windows.build(tmp_path, source, "libcudart.a"))
    assert problem.startswith("my_kernels.dll: needs cudart64_13.dll, which is neither a C or C++ run-time library")


def test_an_export_too_many(tmp_path: Path) -> None:
    source = windows.MODULE + "__declspec(dllexport) int helper(void) { return 1; }\n"
    (problem,) = check.check(windows.build(tmp_path, source))
    assert problem == "my_kernels.dll: exports helper; a module exports kp_module_v1 and __tvm_ffi_<name> only"


@pytest.mark.parametrize(
    ("bit", "option"), [(0x20, "--high-entropy-va"), (0x40, "--dynamicbase"), (0x100, "--nxcompat")]
)
def test_a_protection_that_is_off(dll: Path, tmp_path: Path, bit: int, option: str) -> None:
    optional, _ = _headers(dll.read_bytes())
    (flags,) = struct.unpack_from("<H", dll.read_bytes(), optional + 70)
    patched = _patched(dll, tmp_path / "my.dll", optional + 70, struct.pack("<H", flags & ~bit))
    assert check.check(patched) == [f"my.dll: is not linked with -Wl,{option}"]


def test_a_section_that_is_writable_code(dll: Path, tmp_path: Path) -> None:
    _, sections = _headers(dll.read_bytes())
    (problem,) = check.check(_patched(dll, tmp_path / "my.dll", sections + 36, struct.pack("<I", 0xE0000020)))
    assert problem.startswith("my.dll: has a section that is both writable and executable (.text)")


TAG = "py3-none-win_amd64"


def test_a_wheel(pack: Pack, dll: Path) -> None:
    wheel = pack({"my_kernels/my_kernels.dll": dll}, tag=TAG)
    assert check.audit(wheel) == []
    assert check.describe(wheel).endswith("runs on win_amd64; runs on hosts of ABI 1.0 and newer")
    assert contents.facts(str(wheel))["runs_on"] == "win_amd64"


def test_a_wheel_with_the_wrong_tag(pack: Pack, dll: Path) -> None:
    found = problems(pack({"my_kernels/my_kernels.dll": dll}, tag="py3-none-manylinux_2_28_x86_64"))
    assert found == [
        "tagged manylinux_2_28_x86_64, but its code is for win_amd64; set the tag with `python -m wheel tags`"
    ]


def test_a_wheel_for_two_systems(pack: Pack, dll: Path, plain: Path) -> None:
    found = problems(pack({"my_kernels/my_kernels.dll": dll, "my_kernels/b.so": plain}, tag=TAG))
    assert found[-1] == (
        "no one platform runs its code: my_kernels/b.so (linux), my_kernels/my_kernels.dll (win_amd64); make a wheel for each"
    )


def test_files_that_are_no_dll(dll: Path, tmp_path: Path) -> None:
    content = dll.read_bytes()
    (at,) = struct.unpack_from("<I", content, 60)
    for place, data, said in (
        (at, b"XX", "not a PE shared object"),
        (at + 24, struct.pack("<H", 0x10B), "a PE file, but not of a 64-bit machine"),
        (at + 22, struct.pack("<H", 0x0022), "a PE file, but not a DLL"),
    ):
        with pytest.raises(ValueError, match=said):
            shared_object.read(_patched(dll, tmp_path / "my.dll", place, data))
    (tmp_path / "short.dll").write_bytes(b"MZ")
    (problem,) = check.check(tmp_path / "short.dll")
    assert "not a PE shared object" in problem


def test_without_the_reader(dll: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pefile", None)
    (problem,) = check.check(dll)
    assert problem.endswith("a file for Windows, which needs the package pefile to be read: pip install pefile")


def test_more_exports_than_there_are(dll: Path, tmp_path: Path) -> None:
    content = dll.read_bytes()
    optional, sections = _headers(content)
    (exports,) = struct.unpack_from("<I", content, optional + 112)
    at = next(i for i in range(sections, sections + 400, 40) if content[i : i + 6] == b".rdata")
    _, begin, _, raw = struct.unpack_from("<IIII", content, at + 8)
    patched = _patched(dll, tmp_path / "my.dll", raw + exports - begin + 24, struct.pack("<I", 1 << 20))
    (problem,) = check.check(patched)
    assert problem.endswith("my.dll: is damaged: its directory EXPORT can't be read; build it again")


@pytest.mark.parametrize("seed", range(4))
def test_damage_anywhere_is_a_finding_or_nothing(dll: Path, tmp_path: Path, seed: int) -> None:
    """Of each damaged file every reader says something, or reads it: none raises anything but ValueError."""
    chance, content = random.Random(seed), dll.read_bytes()
    path = tmp_path / "my_kernels.dll"
    filled = [at for at, byte in enumerate(content) if byte and at > 1]  # most of the file is padding
    for _ in range(60):
        size = chance.randrange(2, len(content)) if chance.random() < 0.3 else len(content)
        damaged = bytearray(content[:size])
        for at in chance.sample(filled, chance.randrange(0, 8)):
            damaged[min(at, size - 1)] = chance.randrange(256)
        path.write_bytes(damaged)
        found = check.audit(path)
        assert found or size == len(content)
        with contextlib.suppress(ValueError):
            contents.facts(str(path))
