"""`kernpack split`: the base wheel and its packs, installed by pip, with kernels that run on the emulated device."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import kernpack
import kernpack_sdk
import pytest
from kernpack_sdk.audit import Image, device_code
from kernpack_sdk.slim import file
from kernpack_sdk.slim.choice import Choice
from support.emulated import without_emulator
from support.fatbins import CUBIN, PTX, entry, fatbin, shared_object
from test_slim import INFO, METADATA, NAME, TAG, _read, _write

SOURCE = """\
#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>

#include "which.fatbin.h"

namespace kp = kernpack;

static constexpr kp::DeviceCode kWhich{"which", "fatbin", {device_code::which_fatbin, sizeof device_code::which_fatbin}};
static void Which(kp::TensorView, kp::MutTensorView out) { kp::launch(out.device(), kWhich, "which", {1}, {1}, out); }
static int64_t Plain() { return 7; }

KP_MODULE("gpu", "1.0");
KP_EXPORT_FOR("cuda", which, Which, "(x: i32[1]) -> (out: i32[1])");
KP_EXPORT(plain, Plain);
"""
# Writes its own number.
KERNEL = """\
.version 7.0
.target sm_{number}
.address_size 64
.visible .entry which(.param .u64 to) {{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [to];
  mov.u32 %r1, {number};
  st.global.u32 [%rd1], %r1;
  ret;
}}
"""
CALL = """\
import kernpack, numpy as np
module = kernpack.load("gpu")
x = kernpack.from_dlpack(np.zeros(1, np.int32)).to("cuda")
try:
    print(int(np.from_dlpack(module.which(x).to("cpu"))[0]), module.plain())
except RuntimeError as error:
    print(error)
"""
MACHINE_CODE = bytes(range(256)) * 800


def _ptx(number: int) -> bytes:
    text = KERNEL.format(number=number).encode()
    return entry(PTX, number, text + bytes(8 - len(text) % 8))


CODE = fatbin(
    entry(CUBIN, 80, b"8" * 80 + MACHINE_CODE), _ptx(80), entry(CUBIN, 90, b"9" * 80 + MACHINE_CODE), _ptx(90)
)


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("split")
    (folder / "which.fatbin").write_bytes(CODE)
    (folder / "gpu.cc").write_text(SOURCE)
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(gpu LANGUAGES CXX)\nfind_package(kernpack REQUIRED)\n"
        "kernpack_add_module(gpu SOURCES gpu.cc DEVICE_CODE which.fatbin)\n"
    )
    configure = [
        "cmake",
        "-S",
        folder,
        "-B",
        folder / "build",
        "-G",
        "Ninja",
        f"-Dkernpack_DIR={kernpack_sdk.cmake_dir()}",
    ]
    for words in (configure, ["cmake", "--build", folder / "build"]):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return (folder / "build" / "gpu.so").read_bytes()


@pytest.fixture
def wheel(module: bytes, tmp_path: Path) -> Path:
    files = {
        "gpu/__init__.py": b"",
        "gpu/gpu.so": module,
        f"{INFO}/METADATA": (METADATA + "License-File: LICENSE\n\nA description.\n").encode(),
        f"{INFO}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode(),
        f"{INFO}/licenses/LICENSE": b"MIT",
        f"{INFO}/entry_points.txt": b"[kernpack.modules]\ngpu = gpu\n",
    }
    return _write(tmp_path / "in", files)


def _install(folder: Path, site: Path, *what: str) -> None:
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--find-links", folder, "--target", site, *what]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _call(site: Path, device: str) -> str:
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", CALL],
        env={**without_emulator(), "KERNPACK_EMULATOR": device, "PYTHONPATH": path},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _architectures(path: Path) -> list[str | None]:
    with Image(path) as image:
        return [row.architecture for row in device_code.read(image)]


def test_the_wheels(command, wheel: Path, tmp_path: Path) -> None:
    before = wheel.read_bytes()
    done = command("split", wheel, "--json", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(each["architecture"], each["extra"], each["fat_binaries"]) for each in found["packs"]] == [
        ("sm_80", "sm80", 1), ("sm_90", "sm90", 1),
    ]  # fmt: skip
    names = [f"gpu_cu_sm{number}-1.0-{TAG}.whl" for number in (80, 90)]
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == sorted([NAME, *names])
    assert wheel.read_bytes() == before
    base = _read(tmp_path / "out" / NAME)
    metadata = base[f"{INFO}/METADATA"].decode()
    assert 'Provides-Extra: sm90\nRequires-Dist: gpu-cu-sm90==1.0; extra == "sm90"\n\nA description.\n' in metadata
    # Pages are cut out of the file: both pieces of machine code, as good as whole.
    assert len(_read(wheel)["gpu/gpu.so"]) - len(base["gpu/gpu.so"]) > 2 * len(MACHINE_CODE) - 20_000
    (tmp_path / "gpu.so").write_bytes(base["gpu/gpu.so"])
    assert _architectures(tmp_path / "gpu.so") == ["compute_80", "compute_90"]
    pack = _read(tmp_path / "out" / names[1])
    (code,) = [content for name, content in pack.items() if name.endswith(".fatbin")]
    assert code == fatbin(entry(CUBIN, 90, b"9" * 80 + MACHINE_CODE))
    assert "Requires-Dist: gpu==1.0\n" in pack["gpu_cu_sm90-1.0.dist-info/METADATA"].decode()
    assert pack["gpu_cu_sm90-1.0.dist-info/licenses/LICENSE"] == b"MIT"
    for each in (NAME, *names):
        checked = command("check", tmp_path / "out" / each)
        assert checked.returncode == 0, checked.stdout
    (shown,) = json.loads(command("inspect", tmp_path / "out" / NAME, "--json").stdout)["modules"]
    assert shown["packs"][1] == {"architecture": "sm_90", "wheel": "gpu-cu-sm90==1.0"}
    assert (
        "machine code for sm_80 is in the wheel gpu-cu-sm80==1.0\n"
        in command("inspect", tmp_path / "out" / NAME).stdout
    )
    of_pack = command("inspect", tmp_path / "out" / names[1]).stdout
    assert "code for GPUs that another wheel's module loads: sm_90 205 KB\n" in of_pack
    assert command("test", tmp_path / "out" / names[1]).returncode != 0
    # Two runs give the same wheels, and what was divided isn't divided again.
    assert command("split", wheel, "-o", tmp_path / "again").returncode == 0
    for each in (NAME, *names):
        assert (tmp_path / "out" / each).read_bytes() == (tmp_path / "again" / each).read_bytes()
    again = command("split", tmp_path / "out" / NAME, "-o", tmp_path / "third")
    assert again.returncode == 1
    assert f"{NAME}: none of its code for GPUs can move to other wheels" in again.stderr
    assert not (tmp_path / "third").exists()


def test_slim_cuts_pages_out_of_device_code(module: bytes, tmp_path: Path) -> None:
    """DEVICE_CODE has a section of its own: what becomes free isn't in the file any more."""
    (tmp_path / "gpu.so").write_bytes(module)
    found = file.slim(tmp_path / "gpu.so", Choice(("90",)), tmp_path / "slim.so")
    assert found.bytes[0] - found.bytes[1] > len(MACHINE_CODE) - 10_000
    assert _architectures(tmp_path / "slim.so") == ["sm_90"]
    assert kernpack.load(str(tmp_path / "slim.so")).plain() == 7


def test_kernels_are_found_in_installed_packs(command, wheel: Path, tmp_path: Path) -> None:
    """The emulated device runs PTX alone, so that of 9.0 moves, too: its number tells which code ran."""
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    out, alone, whole = tmp_path / "out", tmp_path / "alone", tmp_path / "whole"
    assert command("split", wheel, "--ptx", "80", "-o", out).returncode == 0
    _install(out, alone, "gpu")
    assert _call(alone, "sm_90") == "80 7"
    _install(out, whole, "gpu[sm90]")
    assert len(list(whole.glob("kernpack_device_code/*.fatbin"))) == 1
    assert _call(whole, "sm_90") == "90 7"
    assert _call(whole, "sm_100") == "90 7"  # PTX of an older one
    assert _call(whole, "sm_80") == "80 7"
    (code,) = whole.glob("kernpack_device_code/*.fatbin")
    code.write_bytes(code.read_bytes().replace(b"mov.u32 %r1, 90", b"mov.u32 %r1, 91"))
    assert _call(whole, "sm_90") == (
        f"cuda:0: {code} isn't the code that the module was divided into: pip install --force-reinstall "
        '"gpu-cu-sm90==1.0"'
    )


def test_a_gpu_without_its_pack_is_told_the_wheel(command, wheel: Path, tmp_path: Path) -> None:
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    out, site = tmp_path / "out", tmp_path / "site"
    assert command("split", wheel, "--ptx", "90", "-o", out).returncode == 0
    _install(out, site, "gpu")
    missing = (
        "cuda:0: no code for the device, sm_86, is installed; its code for sm_80 is in another wheel: pip install "
    )
    assert _call(site, "sm_86") == missing + '"gpu-cu-sm80==1.0"'
    assert _call(site, "sm_70").endswith(
        "no code for the device, sm_70, is installed; the module's wheels have code for sm_80, sm_90"
    )
    _install(out, site, "gpu-cu-sm80")
    assert _call(site, "sm_86") == "80 7"


def test_code_that_the_runtime_registers_is_refused(command, tmp_path: Path) -> None:
    library = shared_object(tmp_path / "lib", [CODE]).read_bytes()
    files = {
        "gpu/x.so": library,
        f"{INFO}/METADATA": METADATA.encode(),
        f"{INFO}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode(),
    }
    foreign = _write(tmp_path / "in", files)
    done = command("split", foreign, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert (
        "none of its code for GPUs can move to other wheels: this is possible for fat binaries that are DEVICE_CODE"
        in done.stderr
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda wheel: wheel.write_bytes(b"no"), "expected a wheel, got a file that can't be read"),
        (lambda wheel: wheel.unlink(), "expected a wheel, got a file that can't be read"),
        (lambda wheel: _add_extra(wheel), "it has an extra named sm90 already; give that one another name"),
    ],
)
def test_wheels_that_cannot_be_divided(command, wheel: Path, tmp_path: Path, change, said: str) -> None:
    change(wheel)
    done = command("split", wheel, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("out/*"))


def _add_extra(wheel: Path) -> None:
    files = _read(wheel)
    del files[f"{INFO}/RECORD"]
    files[f"{INFO}/METADATA"] = (METADATA + "Provides-Extra: sm90\n").encode()
    _write(wheel.parent, files)


def test_the_folder_of_the_wheel_is_refused(command, wheel: Path) -> None:
    done = command("split", wheel, "-o", wheel.parent)
    assert done.returncode == 1
    assert "the base wheel has the name of the wheel that was given; name another folder with --output" in done.stderr


def _facts(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "kernpack", *words],
        env={**without_emulator(), "PYTHONPATH": path}, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def test_packs_of_another_version_of_the_base_are_told(command, wheel: Path, tmp_path: Path) -> None:
    """As after `pip install -U` of the base alone: the older pack stays. Its code isn't used, and no other version's is lost."""
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    out, site, other = tmp_path / "out", tmp_path / "site", tmp_path / "other"
    assert command("split", wheel, "--ptx", "80", "-o", out).returncode == 0
    _install(out, site, "gpu[sm90]")
    explained = _facts(site, "explain", "gpu.which").stdout
    assert "machine code for sm_80 is in gpu-cu-sm80==1.0: not installed\n" in explained
    assert "machine code for sm_90 is in gpu-cu-sm90==1.0: installed\n" in explained
    # An older version of both, whose pack has other code of its own.
    older = tmp_path / "older"
    older.mkdir()
    changed = _read(wheel)
    del changed[f"{INFO}/RECORD"]
    changed["gpu/gpu.so"] = changed["gpu/gpu.so"].replace(b"mov.u32 %r1, 90", b"mov.u32 %r1, 91")
    assert command("split", _write(older / "in", changed), "--ptx", "80", "-o", older / "out").returncode == 0
    _install(older / "out", other, "gpu-cu-sm90", "--no-deps")
    both = os.pathsep.join(map(str, (other, site)))
    assert _call(both, "sm_90") == "90 7"  # found by its content, though the other folder comes first
    for code in site.glob("kernpack_device_code/*.fatbin"):
        code.unlink()
    assert _call(both, "sm_90") == "80 7"
    said = "version 1.0 is installed, which has the code of another build"
    assert f"in gpu-cu-sm90==1.0: {said}\n" in _facts(both, "explain", "gpu.which").stdout
    findings = json.loads(_facts(both, "doctor", "--json").stdout)
    (fine, broken) = [each for each in findings if each["what"] == "package gpu"]
    assert fine["found"] == "1.0, 2 functions, code for sm_80 not installed"
    assert (broken["state"], broken["mend"]) == ("broken", 'pip install --force-reinstall "gpu-cu-sm90==1.0"')
    assert broken["found"] == f"gpu-cu-sm90==1.0 has its code for sm_90, but {said}"
