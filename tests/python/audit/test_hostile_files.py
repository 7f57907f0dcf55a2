"""Files that nobody vouches for: of any wrong bytes in a wheel, or in a shared object inside or outside of a wheel, `inspect` and
`check` say something, or they read the file. Nothing else is raised, and sizes that headers claim don't fill the memory."""

from __future__ import annotations

import contextlib
import random
import struct
import zipfile
from pathlib import Path

import pytest
from audit_inputs import SOURCE, Build
from kernpack_sdk import check, contents
from kernpack_sdk.elf import Stream
from support.fatbins import CUBIN, PTX, entry, fatbin, shared_object

NAME = "my_kernels-1.0.0-py3-none-linux_x86_64.whl"
CODE = fatbin(entry(CUBIN, 80, b"8" * 800), entry(PTX, 90, b".version 7.0\n" * 30), entry(CUBIN, 90, b"9" * 900))
BYTES = (0, 1, 0x7F, 0x80, 0xFF)
ROUNDS = 8


def _regions(elf: bytes) -> list[tuple[int, int]]:
    """The tables of a shared object, and its sections: changed bytes are spread over them, however small one is."""
    segments, sections = struct.unpack_from("<QQ", elf, 32)
    segment_count, _, section_count = struct.unpack_from("<HHH", elf, 56)
    found = [(0, 64), (segments, segments + 56 * segment_count), (sections, sections + 64 * section_count)]
    for i in range(section_count):
        kind, begin, size = struct.unpack_from("<4xI16xQQ", elf, sections + 64 * i)
        if kind != 8 and size > 0 and begin + size <= len(elf):  # 8: has no bytes in the file
            found.append((begin, begin + size))
    return found


def _damaged(content: bytes, regions: list[tuple[int, int]], chance: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 2, 4, 10])):
        data[chance.randrange(*chance.choice(regions))] = chance.choice([*BYTES, chance.randrange(256)])
    return bytes(data[: chance.choice([len(data)] * 9 + [chance.randrange(len(data))])])


def _read(path: Path) -> None:
    with contextlib.suppress(ValueError):
        contents.facts(str(path))
    if not any(each.serious for each in check.audit(path)):
        assert check.describe(path)


def _wheel(path: Path, module: bytes) -> None:
    info = "my_kernels-1.0.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("my_kernels/x.so", module)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.4\nName: my_kernels\nVersion: 1.0.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-linux_x86_64\n")
        archive.writestr(f"{info}/RECORD", "")


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_damaged_files(plain: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    whole = plain.read_bytes() if seed % 2 else shared_object(tmp_path / "made", [CODE, CODE], "-g").read_bytes()
    damaged = _damaged(whole, _regions(whole), chance)
    (tmp_path / "x.so").write_bytes(damaged)
    _read(tmp_path / "x.so")
    _wheel(tmp_path / NAME, damaged)
    _read(tmp_path / NAME)
    _wheel(tmp_path / NAME, whole)
    wheel = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(_damaged(wheel, [(0, len(wheel)), (len(wheel) - 400, len(wheel))], chance))
    _read(tmp_path / NAME)


@pytest.mark.parametrize("table", ["segments", "sections"])
def test_sizes_and_places_beyond_any_file(plain: Path, tmp_path: Path, table: str) -> None:
    """In each row of the table, one after the other: a size of 2**40, and a place of 2**63."""
    whole = plain.read_bytes()
    at, width, place, size = (32, 56, 8, 32) if table == "segments" else (40, 64, 24, 32)
    (begin,) = struct.unpack_from("<Q", whole, at)
    (count,) = struct.unpack_from("<H", whole, 56 if table == "segments" else 60)
    for row in range(count):
        for field, value in ((size, 40), (place, 63)):
            data = bytearray(whole)
            struct.pack_into("<Q", data, begin + width * row + field, 1 << value)
            (tmp_path / "x.so").write_bytes(data)
            with contextlib.suppress(ValueError):
                contents.facts(str(tmp_path / "x.so"))


def test_a_claimed_size_fills_no_memory(plain: Path) -> None:
    with Stream(plain) as stream:
        assert stream.read(1 << 62) == plain.read_bytes()
        assert stream.seek(1 << 62) == plain.stat().st_size


def test_nothing_of_a_module_runs(build: Build, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    module = build(SOURCE + f'__attribute__((constructor)) static void Run() {{ fclose(fopen("{ran}", "w")); }}\n')
    (module_facts,) = contents.facts(str(module))["modules"]
    assert [each["name"] for each in module_facts["functions"]] == ["copy"]
    assert not ran.exists()
