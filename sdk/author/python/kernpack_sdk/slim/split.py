"""`kernpack split`: a base wheel without machine code for GPUs, and a wheel for each GPU that has it."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from kernpack_sdk.audit import sbom
from kernpack_sdk.audit.package import Wheel
from kernpack_sdk.module_files import FOLDER
from kernpack_sdk.slim import repack
from kernpack_sdk.slim.file import Slimmed, fat_binaries, has_what_can_go
from kernpack_sdk.slim.packs import Division, pack_name

_COPIED = ("License", "License-Expression", "License-File", "Author", "Author-email", "Project-URL", "Home-page")
_FIRST_TIME = (1980, 1, 1, 0, 0, 0)


@dataclasses.dataclass(frozen=True)
class Pack:
    wheel: Path
    architecture: str  # "sm_90"
    extra: str  # of the base: "sm90"
    files: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class Result:
    base: Path
    packs: list[Pack]
    files: dict[str, Slimmed]
    bytes: tuple[int, int]  # of the wheel before, and of the base
    lost_signature: bool


def split(wheel: Path, ptx: tuple[str, ...], folder: Path) -> Result:
    """Writes the wheels into `folder`. ValueError where the wheel is damaged, or its code isn't loaded by Kernpack; OSError."""
    target = folder / wheel.name
    if target.exists() and wheel.exists() and target.samefile(wheel):
        raise ValueError(
            f"{folder}: the base wheel has the name of the wheel that was given; name another folder with --output"
        )
    with tempfile.TemporaryDirectory() as temporary:
        tree, cut = Path(temporary) / "tree", Path(temporary) / "packs"
        order = repack.unpack(wheel, tree)
        whole = Wheel(wheel, tree)
        if whole.info is None:
            raise ValueError(f"{wheel.name}: expected a wheel, got an archive without a .dist-info folder")
        repack.refuse_damaged(whole)
        bills = set(sbom.findings(whole))
        metadata = whole.message("METADATA")
        division = Division((), ptx, cut, str(metadata.get("Name")), str(metadata.get("Version")))
        _write_packs(whole, division)
        files = repack.slim_files(whole, division, Path(temporary) / "new")
        numbers = sorted(int(each.name) for each in cut.iterdir())
        _announce(whole, division, numbers)
        lost = repack.drop_signatures(whole)
        repack.write_record(whole)
        repack.refuse_damaged(whole)
        repack.refuse(whole, (each for each in sbom.findings(whole) if each not in bills))
        folder.mkdir(parents=True, exist_ok=True)
        mode = wheel.stat().st_mode & 0o777
        made = [_pack_wheel(whole, division, number, folder, mode) for number in numbers]
        with repack.written_whole(target, mode) as stream:  # last: it asks for the others
            repack.pack(tree, order, stream)
        return Result(target, made, files, (wheel.stat().st_size, target.stat().st_size), lost)


def _write_packs(wheel: Wheel, division: Division) -> None:
    division.folder.mkdir()
    for path in wheel.shared_objects():
        if not has_what_can_go(path):
            continue
        with repack.named(wheel, path.relative_to(wheel.tree).as_posix()):
            for section, data, entries in fat_binaries(path):
                if not all(division.keep(data, entries, section)):
                    division.write(data, entries)
    if not any(division.folder.iterdir()):
        raise ValueError(
            f"{wheel.path.name}: none of its code for GPUs can move to other wheels: this is possible for fat binaries that are "
            "DEVICE_CODE of a module built with Kernpack; other code is loaded by NVIDIA's runtime, which looks in one file"
        )


def _announce(wheel: Wheel, division: Division, numbers: list[int]) -> None:
    """In the METADATA of the base: an extra for each pack."""
    assert wheel.info is not None
    path = wheel.info / "METADATA"
    head, blank, body = path.read_text(encoding="utf-8").partition("\n\n")
    known = set(wheel.message("METADATA").get_all("Provides-Extra") or [])
    lines = []
    for number in numbers:
        if _extra(number) in known:
            raise ValueError(
                f"{wheel.path.name}: it has an extra named {_extra(number)} already; give that one another name"
            )
        name = pack_name(division.base, number)
        lines.append(
            f'Provides-Extra: {_extra(number)}\nRequires-Dist: {name}=={division.version}; extra == "{_extra(number)}"'
        )
    path.write_text("\n".join([head.rstrip("\n"), *lines]) + (blank + body if blank else "\n"), encoding="utf-8")


def _extra(number: int) -> str:
    return f"sm{number}"


def _pack_wheel(wheel: Wheel, division: Division, number: int, folder: Path, mode: int) -> Pack:
    name = pack_name(division.base, number)
    stem = f"{re.sub(r'[-_.]+', '_', name)}-{wheel.version}"
    content = dict(_pack_files(wheel, division, number, f"{stem}.dist-info"))
    rows = [f"{path},{_digest(data)},{len(data)}" for path, data in content.items()]
    content[f"{stem}.dist-info/RECORD"] = "\n".join([*rows, f"{stem}.dist-info/RECORD,,", ""]).encode()
    target = folder / f"{stem}-{wheel.python}-{wheel.abi}-{wheel.platform}.whl"
    with repack.written_whole(target, mode) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for path, data in content.items():
            info = zipfile.ZipInfo(path, _FIRST_TIME)
            info.external_attr = 0o644 << 16
            made.writestr(info, data, zipfile.ZIP_DEFLATED)
    count = sum(path.startswith(FOLDER) for path in content)
    return Pack(target, f"sm_{number}", _extra(number), count, target.stat().st_size)


def _pack_files(wheel: Wheel, division: Division, number: int, info: str) -> Iterator[tuple[str, bytes]]:
    assert wheel.info is not None
    for path in sorted((division.folder / str(number)).iterdir()):
        yield f"{FOLDER}/{path.name}", path.read_bytes()
    about = wheel.message("METADATA")
    lines = [
        f"Metadata-Version: {about.get('Metadata-Version', '2.1')}",
        f"Name: {pack_name(division.base, number)}",
        f"Version: {division.version}",
        f"Summary: Code of {division.base} for CUDA devices of compute capability {number // 10}.{number % 10}",
        *(f"{field}: {value}" for field in _COPIED for value in about.get_all(field) or []),
        f"Requires-Dist: {division.base}=={division.version}",
    ]
    yield f"{info}/METADATA", ("\n".join(lines) + "\n").encode()
    yield f"{info}/WHEEL", (wheel.info / "WHEEL").read_bytes()
    for path in sorted((wheel.info / "licenses").rglob("*")) if (wheel.info / "licenses").is_dir() else ():
        if path.is_file():
            yield f"{info}/{path.relative_to(wheel.info).as_posix()}", path.read_bytes()


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
