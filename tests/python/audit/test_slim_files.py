"""`kernpack slim` on shared objects: what goes, that the rest is as it was in memory, and the files that are refused."""

from __future__ import annotations

import ctypes
import platform
import random
import shutil
import struct
import subprocess
from pathlib import Path

import kernpack
import numpy as np
import pytest
from audit_inputs import SOURCE, Build
from kernpack_sdk.audit import Image, device_code
from kernpack_sdk.slim import choice, cuts, file, proof, rewrite
from kernpack_sdk.slim.choice import Choice
from kernpack_sdk.slim.tables import Elf
from support.fatbins import ARCH_SPECIFIC, CUBIN, FAMILY, OTHER, PTX, entry, fatbin, shared_object

_RANDOM = random.Random(47)
FIRST = fatbin(
    *(entry(CUBIN, n, _RANDOM.randbytes(80_000)) for n in (75, 80, 90)), entry(PTX, 90, b"p" * 1000, unpacked=5000)
)
SECOND = fatbin(entry(CUBIN, 80, b"s" * 80), entry(CUBIN, 90, b"t" * 160), entry(PTX, 80, b"q" * 80))
THIRD = fatbin(*(entry(CUBIN, n, _RANDOM.randbytes(90_000)) for n in (90, 100, 120)))
ON_90 = Choice(("90",))


def _architectures(path: Path) -> list[str | None]:
    with Image(path) as image:
        return [row.architecture for row in device_code.read(image)]


def _slimmed(path: Path, wanted: Choice = ON_90) -> Path:
    to = path.with_name("slim.so")
    assert file.slim(path, wanted, to).saved
    return to


def test_code_for_other_gpus_goes_and_the_file_runs(tmp_path: Path) -> None:
    path = shared_object(tmp_path, [FIRST, SECOND, THIRD], "-g")
    found = file.slim(path, ON_90, tmp_path / "slim.so")
    dropped = {row.kind: (row.count, row.bytes) for row in found.saved}
    assert dropped.pop("debug sections")[0] > 2
    assert dropped == {
        "sm_75": (1, 80_064), "sm_80": (2, 80_064 + 144), "compute_90": (1, 1064), "compute_80": (1, 144),
        "sm_100": (1, 90_064), "sm_120": (1, 90_064),
    }  # fmt: skip
    assert found.whole == 0
    assert found.bytes == (path.stat().st_size, (tmp_path / "slim.so").stat().st_size)
    assert found.bytes[1] < found.bytes[0] - 230_000  # pages of the file, not zeros
    assert _architectures(tmp_path / "slim.so") == ["sm_90"]
    library = ctypes.CDLL(str(tmp_path / "slim.so"))
    assert library.answer(20) == 42
    library.place.restype = ctypes.c_void_p
    for i, (whole, keeps) in enumerate([(FIRST, [2]), (SECOND, [1]), (THIRD, [0])]):
        kept = b"".join(_entries(whole)[k] for k in keeps)
        memory = ctypes.string_at(library.place(i), len(whole))
        assert memory[: 16 + len(kept)] == struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(kept)) + kept
        # All that became free can be read; nearly all of it is zeros that no file has.
        assert sum(map(bool, memory[16 + len(kept) :])) < 500


def _entries(container: bytes) -> list[bytes]:
    found, at = [], 16
    while at < len(container):
        size = 64 + struct.unpack_from("<Q", container, at + 8)[0]
        found.append(container[at : at + size])
        at += size
    return found


def test_binutils_read_the_result(tmp_path: Path) -> None:
    new = _slimmed(shared_object(tmp_path, [FIRST, SECOND, THIRD], "-g"))
    done = subprocess.run(["readelf", "-aW", new], capture_output=True, text=True, check=True)
    assert "Warning" not in done.stderr + done.stdout
    for option in ("-d", "-T"):
        before, after = (
            subprocess.run(["objdump", option, each], capture_output=True, text=True, check=True).stdout.splitlines()[
                2:
            ]
            for each in (tmp_path / "x.so", new)
        )
        assert before == after


@pytest.mark.skipif(platform.machine() != "x86_64", reason="pages of other processors may be larger")
@pytest.mark.parametrize(
    "options",
    [
        ("-Wl,-z,max-page-size=0x200000",),
        ("-Wl,-z,separate-code", "-Wl,-z,relro", "-Wl,-z,now"),
        ("-Wl,--section-start=.nv_fatbin=0x40000000",),
        ("-fuse-ld=lld",),
    ],
)
def test_layouts_of_linkers(tmp_path: Path, options: tuple[str, ...]) -> None:
    try:
        path = shared_object(tmp_path, [FIRST, THIRD], *options)
    except subprocess.CalledProcessError:
        pytest.skip(f"gcc can't link with {options[0]} here")
    new = _slimmed(path)
    assert new.stat().st_size < path.stat().st_size - 220_000
    assert ctypes.CDLL(str(new)).answer(0) == 2


@pytest.mark.parametrize("option", ["-Wl,-z,noseparate-code", "-fuse-ld=gold"])
def test_zeros_are_never_executable(tmp_path: Path, option: str) -> None:
    """Where device code lies beside instructions, zeros have a segment without that right."""
    try:
        path = shared_object(tmp_path, [FIRST], option)
    except subprocess.CalledProcessError:
        pytest.skip(f"gcc can't link with {option} here")
    new = _slimmed(path)
    loads = Elf(new.read_bytes()).loads
    assert not [each for each in loads if each.is_executable and each.memory_size != each.file_size]
    assert [each for each in loads if not each.file_size and not each.is_executable]
    assert new.stat().st_size < path.stat().st_size - 100_000
    assert ctypes.CDLL(str(new)).answer(0) == 2


def test_small_pieces_become_zeros(tmp_path: Path) -> None:
    """A hole of a few pages isn't worth a mapping: the file's tables stay where they were."""
    path = shared_object(tmp_path, [SECOND])
    new = _slimmed(path)
    assert new.stat().st_size == path.stat().st_size
    assert _architectures(new) == ["sm_90"]
    assert ctypes.CDLL(str(new)).answer(0) == 2


def test_many_fat_binaries(tmp_path: Path) -> None:
    """More holes than are made: the largest are."""
    each = fatbin(entry(CUBIN, 80, b"o" * 70_000), entry(CUBIN, 90, b"n" * 64))
    path = shared_object(tmp_path, [each] * 70)
    new = _slimmed(path)
    assert path.stat().st_size - 70 * 70_000 < new.stat().st_size < path.stat().st_size - 62 * 61_000
    assert ctypes.CDLL(str(new)).answer(0) == 2


def test_relocatable_code_and_both_sections(tmp_path: Path) -> None:
    path = shared_object(tmp_path, [FIRST], section="__nv_relfatbin")
    assert _architectures(_slimmed(path)) == ["sm_90"]


_EMBEDDED = """\
#include <kernpack/kernel.h>
alignas(8) static const char code[] = {BYTES};
extern "C" __attribute__((visibility("hidden"))) const void* const images[] = {code};
static void Look(kernpack::TensorView, kernpack::MutTensorView out) { out.data_ptr<int64_t>()[0] = reinterpret_cast<int64_t>(images[0]); }
KP_MODULE("my_kernels", "1.0.0");
KP_EXPORT(look, Look, "(x: i64[1]) -> (out: i64[1])");
"""


def test_device_code_among_constants_of_a_module(build: Build, tmp_path: Path) -> None:
    """DEVICE_CODE: freed bytes become zeros, and the file keeps its size. A library of another project stays as it is."""
    source = _EMBEDDED.replace("BYTES", ",".join(f"'\\x{each:02x}'" for each in SECOND))
    path = build(source)
    new = tmp_path / "slim.so"
    found = file.slim(path, ON_90, new)
    assert {(row.kind, row.count) for row in found.saved} >= {("sm_80", 1), ("compute_80", 1)}
    before, after = path.read_bytes(), new.read_bytes()
    kept = _entries(SECOND)[1]
    slim = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(kept)) + kept
    assert before.count(SECOND) == 1
    assert after.count(slim + bytes(len(SECOND) - len(slim))) == 1
    assert _architectures(new) == ["sm_90"]
    address = int(kernpack.load(str(new)).look(np.zeros(1, np.int64))[0])
    assert ctypes.string_at(address, len(slim)) == slim
    (tmp_path / "plain.cc").write_text(
        source.partition("static void")[0].partition("\n")[2] + "const void* const* f() { return images; }"
    )
    subprocess.run(["g++", "-shared", "-fPIC", "plain.cc", "-o", "plain.so"], cwd=tmp_path, check=True)
    assert file.entries(tmp_path / "plain.so") == []


def test_a_module_that_lost_pages_is_loaded_and_called(build: Build, tmp_path: Path) -> None:
    shared_object(tmp_path, [FIRST])  # for its source of the fat binary
    declared = 'extern "C" const char fatbin_0[] __attribute__((visibility("hidden")));\n'
    source = f"{declared}static const void* volatile first = fatbin_0;\n{SOURCE}".replace("for (", "(void)first; for (")
    path = build(source, str(tmp_path / "fatbins.s"))
    new = tmp_path / "my_kernels.so"
    file.slim(path, ON_90, new)
    assert new.stat().st_size < path.stat().st_size - 100_000
    x = np.arange(4, dtype=np.float32)
    assert (kernpack.load(str(new)).copy(x) == x).all()


def test_the_second_time_nothing_goes(tmp_path: Path) -> None:
    new = _slimmed(shared_object(tmp_path, [FIRST, SECOND], "-g"))
    assert file.slim(new, ON_90, tmp_path / "again.so").saved == ()
    assert not (tmp_path / "again.so").exists()
    more = _slimmed(shared_object(tmp_path / "more", [FIRST]), Choice(("75", "90")))
    with pytest.raises(ValueError, match="as those of a wheel that was slimmed; slim the original"):
        file.slim(more, ON_90, tmp_path / "again.so")


def test_equal_images_of_one_fat_binary_stay_once(tmp_path: Path) -> None:
    image = entry(CUBIN, 90, b"n" * 128)
    path = shared_object(tmp_path, [fatbin(image, entry(CUBIN, 80, b"o" * 8), image), fatbin(image)])
    found = file.slim(path, ON_90, tmp_path / "slim.so")
    assert [(row.kind, row.count) for row in found.saved] == [("sm_80", 1), ("duplicates", 1)]


def test_without_code_for_these_gpus_a_fat_binary_stays_whole(tmp_path: Path) -> None:
    path = shared_object(tmp_path, [fatbin(entry(CUBIN, 75, b"o" * 8)), SECOND])
    found = file.slim(path, ON_90, tmp_path / "slim.so")
    assert found.whole == 1
    assert _architectures(tmp_path / "slim.so") == ["sm_75", "sm_90"]


_CODE = {
    "sm_75": entry(CUBIN, 75, b"a" * 8),
    "sm_80": entry(CUBIN, 80, b"b" * 8),
    "sm_86": entry(CUBIN, 86, b"c" * 8),
    "sm_90": entry(CUBIN, 90, b"d" * 8),
    "sm_90a": entry(CUBIN, 90, b"e" * 8, flags=0x11 | ARCH_SPECIFIC),
    "sm_100": entry(CUBIN, 100, b"f" * 8),
    "sm_100a": entry(CUBIN, 100, b"g" * 8, flags=0x11 | ARCH_SPECIFIC),
    "sm_100f": entry(CUBIN, 100, b"h" * 8, flags=0x11 | FAMILY),
    "compute_75": entry(PTX, 75, b"i" * 8),
    "compute_80": entry(PTX, 80, b"j" * 8),
    "compute_90a": entry(PTX, 90, b"k" * 8, flags=0x11 | ARCH_SPECIFIC),
    "compute_100f": entry(PTX, 100, b"l" * 8, flags=0x11 | FAMILY),
    "compute_120": entry(PTX, 120, b"m" * 8),
    "lto_90": entry(OTHER, 90, b"n" * 8),
}


@pytest.mark.parametrize(
    ("has", "architectures", "ptx", "keeps"),
    [
        ("sm_80 sm_90 compute_80", "90", "", "sm_90"),
        ("sm_80 sm_90 sm_90a", "90a", "", "sm_90 sm_90a"),  # which of both a driver takes isn't for us to say
        ("sm_80 sm_90 sm_100", "80,100", "", "sm_80 sm_100"),
        ("sm_75 sm_80 sm_90", "86", "", "sm_80"),  # the code of an older GPU of the major version
        ("sm_75 sm_80 compute_75 compute_80", "86", "", "sm_80 compute_80"),
        ("sm_75 compute_75 compute_80 compute_120", "90", "", "compute_80"),
        ("sm_75 compute_90a compute_80", "90", "", "compute_90a"),
        ("sm_75 compute_90a compute_80", "100", "", "compute_80"),
        ("sm_100a sm_100f sm_90", "103", "", "sm_100f"),
        ("sm_90 compute_100f", "103", "", "compute_100f"),
        ("sm_90 compute_100f compute_80", "120", "", "compute_80"),
        ("sm_80 compute_80 sm_90 compute_120", "90", "80,120", "compute_80 sm_90 compute_120"),
        ("sm_80 lto_90 sm_90", "90", "", "lto_90 sm_90"),  # other kinds are the linker's
        ("sm_75 sm_80", "90", "", "sm_75 sm_80"),
    ],
)
def test_what_a_gpu_loads_stays(has: str, architectures: str, ptx: str, keeps: str) -> None:
    from kernpack_sdk.audit import fatbin as reader

    data = fatbin(*(_CODE[name] for name in has.split()))
    (container,) = reader.containers(data)
    wanted = Choice(choice.parse(architectures), choice.parse(ptx) if ptx else ())
    kept = wanted.keep(data, container.entries)
    assert [name for name, stays in zip(has.split(), kept, strict=True) if stays] == keeps.split()


def _changed(data: bytes, at: int, content: bytes) -> bytes:
    return data[:at] + content + data[at + len(content) :]


def _section(data: bytes, name: str) -> tuple[int, int, int]:
    """Where its row of the table is, where its content is, and its size."""
    elf = Elf(data)
    number = elf.names.index(name)
    return elf.header.sections_at + 64 * number, elf.sections[number].offset, elf.sections[number].size


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """A file, and the slimmed one."""
    path = shared_object(tmp_path_factory.mktemp("made"), [FIRST, SECOND, THIRD], "-g")
    return path.read_bytes(), _slimmed(path).read_bytes()


def test_the_proof_finds_any_other_change(made: tuple[bytes, bytes]) -> None:
    """A bit of the slimmed file is changed, anywhere but in padding that nothing maps: the proof fails."""
    old, new = Elf(made[0]), made[1]
    proof.check(old, Elf(new), ON_90)
    elf = Elf(new)
    used = [(0, 64), (elf.header.segments_at, elf.header.segments_at + 56 * len(elf.segments))]
    used += [(each.offset, each.file_end) for each in elf.loads] + [(s.offset, s.end) for s in elf.sections]
    used = [each for each in used if each[0] < each[1]]
    chance = random.Random(47)
    for _ in range(60):
        at = chance.randrange(*chance.choice(used))
        changed = _changed(new, at, bytes([new[at] ^ (1 << chance.randrange(8))]))
        with pytest.raises(ValueError, match=r"."):
            proof.check(old, Elf(changed), ON_90)


def test_damaged_files_are_refused_or_proved(made: tuple[bytes, bytes], tmp_path: Path) -> None:
    """Headers, tables and fat binaries with some wrong bytes: a ValueError, or a file that passes the proof. Nothing else, and fast."""
    whole = made[0]
    elf = Elf(whole)
    section = elf.sections[elf.fat_sections[0]]
    places = [0, elf.header.segments_at, elf.header.sections_at, section.offset]
    sizes = [64, 56 * len(elf.segments), 64 * len(elf.sections), 120]
    chance = random.Random(47)
    refused = 0
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 1, 2, 5])):
            i = chance.randrange(4)
            data[places[i] + chance.randrange(sizes[i])] = chance.choice(
                [0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)]
            )
        (tmp_path / "x.so").write_bytes(data[: chance.choice([len(data)] * 5 + [chance.randrange(len(data))])])
        try:
            if file.has_what_can_go(tmp_path / "x.so"):
                file.entries(tmp_path / "x.so")
                file.slim(tmp_path / "x.so", ON_90, tmp_path / "slim.so")
        except ValueError:
            refused += 1
    assert refused > 50


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("entry", "an entry at byte 16 that doesn't fit"),
        ("magic", "expected a fat binary at byte 0, got something else"),
        ("behind", "3 bytes follow its last section"),
        ("overlap", "the sections .nv_fatbin and .comment overlap"),
        ("cut", "leads out of the file"),
        ("program", r"expected a shared object \(ELF type 3\), got ELF type 2"),
    ],
)
def test_refusals(tmp_path: Path, change: str, said: str) -> None:
    path = shared_object(tmp_path, [FIRST])
    data = path.read_bytes()
    row, at, _ = _section(data, ".nv_fatbin")
    comment, _, _ = _section(data, ".comment")
    path.write_bytes(
        {
            "entry": lambda: _changed(data, at + 16 + 8, b"\xff" * 7),
            "magic": lambda: _changed(data, at, b"PK"),
            "behind": lambda: data + b"end",
            "overlap": lambda: _changed(data, comment + 24, data[row + 24 : row + 32]),
            "cut": lambda: data[:-65],
            "program": lambda: _changed(data, 16, b"\x02"),
        }[change]()
    )
    with pytest.raises(ValueError, match=said):
        file.slim(path, ON_90, tmp_path / "slim.so")
    assert not (tmp_path / "slim.so").exists()


def test_a_pointer_into_a_fat_binary_is_refused(tmp_path: Path) -> None:
    (tmp_path / "more.c").write_text(
        'extern const char fatbin_0[] __attribute__((visibility("hidden"))); const char* inside = fatbin_0 + 80;\n'
    )
    path = shared_object(tmp_path, [FIRST], "more.c")
    with pytest.raises(ValueError, match="something refers to the inside of the fat binary"):
        file.slim(path, ON_90, tmp_path / "slim.so")


def test_a_writer_that_errs_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing stays of a file that can't be proved."""
    path = shared_object(tmp_path, [FIRST])
    right = rewrite.write

    def wrong(elf: Elf, found: cuts.Cuts, stream) -> None:
        right(elf, found, stream)
        stream.seek(Elf(path.read_bytes()).loads[1].offset)
        stream.write(b"\xcc")

    monkeypatch.setattr(rewrite, "write", wrong)
    with pytest.raises(ValueError, match="can't be proved that its host code stays as it is: the memory from 0x"):
        file.slim(path, ON_90, tmp_path / "slim.so")
    assert not (tmp_path / "slim.so").exists()


def _cuobjdump() -> str:
    """NVIDIA's: of the CUDA toolkit, or the one that Triton's wheel has."""
    import importlib.util

    spec = importlib.util.find_spec("triton")
    ours = Path(spec.origin).parent / "backends/nvidia/bin/cuobjdump" if spec and spec.origin else None
    found = shutil.which("cuobjdump") or (str(ours) if ours and ours.exists() else None)
    if found is None:
        pytest.skip("no cuobjdump: install NVIDIA's CUDA toolkit, or triton")
    return found


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc: the CUDA toolkit is not installed")
def test_what_nvcc_makes_relocatable_and_compressed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.cu").write_text(f"__global__ void {name}(float* x) {{ x[threadIdx.x] *= 2; }}\n")
    codes = ["-gencode=arch=compute_80,code=[sm_80,compute_80]", "-gencode=arch=compute_90,code=sm_90"]
    command = ["nvcc", "-shared", "-rdc=true", "-Xcompiler", "-fPIC", "-Xfatbin=-compress-all", *codes, "a.cu", "b.cu"]
    subprocess.run([*command, "-o", "k.so"], cwd=tmp_path, check=True)
    new = _slimmed(tmp_path / "k.so")
    assert _architectures(tmp_path / "k.so") == ["sm_80", "sm_90", "compute_80"]
    assert _architectures(new) == ["sm_90"]
    ctypes.CDLL(str(new))  # NVIDIA's runtime registers its kernels


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc: the CUDA toolkit is not installed")
def test_cuobjdump_agrees(tmp_path: Path) -> None:
    program = _cuobjdump()
    (tmp_path / "a.cu").write_text("__global__ void a(float* x) { x[threadIdx.x] *= 2; }\n")
    codes = ["-gencode=arch=compute_80,code=[sm_80,compute_80]", "-gencode=arch=compute_100,code=[sm_100,compute_100]"]
    subprocess.run(["nvcc", "-fatbin", *codes, "a.cu", "-o", "a.fatbin"], cwd=tmp_path, check=True)
    one = (tmp_path / "a.fatbin").read_bytes()
    new = _slimmed(shared_object(tmp_path / "o", [one, one]), Choice(("80",), ("100",)))
    for option, listed in (("--list-elf", ["sm_80", "sm_80"]), ("--list-ptx", ["sm_100", "sm_100"])):
        done = subprocess.run([program, option, new], capture_output=True, text=True, check=True)
        assert [line.split(".")[-2] for line in done.stdout.split() if "sm_" in line] == listed
