"""A wheel whose shared objects are slimmed: written anew, with RECORD; the wheel that was given stays as it is."""

from __future__ import annotations

import base64
import csv
import dataclasses
import hashlib
import io
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kernpack_sdk import archive
from kernpack_sdk.audit import Finding, package, sbom
from kernpack_sdk.audit.package import Wheel
from kernpack_sdk.slim import file
from kernpack_sdk.slim.choice import Choice
from kernpack_sdk.slim.file import Slimmed

_SIGNATURES = ("RECORD.jws", "RECORD.p7s")
_HEXADECIMAL = re.compile(rb"\b[0-9a-fA-F]{32,128}\b")
_DIGESTS = ("md5", "sha1", "sha256", "sha384", "sha512")  # that an SBOM may list of a file


@dataclasses.dataclass(frozen=True)
class Result:
    wheel: Path
    files: dict[str, Slimmed]  # by their names in the wheel
    bytes: tuple[int, int]  # of the wheel, before and after
    installed: tuple[int, int]  # of all of its files
    lost_signature: bool


def slim(wheel: Path, choice: Choice, folder: Path) -> Result:
    """A wheel of the same name in `folder`. ValueError where the wheel is damaged, or something can't be proved; OSError."""
    target = folder / wheel.name
    if target.exists() and wheel.exists() and target.samefile(wheel):
        raise ValueError(
            f"{folder}: the slimmed wheel has the name of the wheel that was given; name another folder with --output"
        )
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary) / "tree"
        order = unpack(wheel, tree)
        unpacked = Wheel(wheel, tree)
        info = unpacked.info
        if info is None:
            raise ValueError(f"{wheel.name}: expected a wheel, got an archive without a .dist-info folder")
        refuse_damaged(unpacked)
        bills = set(sbom.findings(unpacked))
        before = size(tree)
        slimmed = slim_files(unpacked, choice, Path(temporary) / "new")
        changed = any(each.saved for each in slimmed.values())
        lost_signature = changed and drop_signatures(unpacked)
        folder.mkdir(parents=True, exist_ok=True)
        with written_whole(target, wheel.stat().st_mode & 0o777) as stream:
            if changed:
                write_record(unpacked)
                refuse_damaged(unpacked)
                refuse(unpacked, (each for each in sbom.findings(unpacked) if each not in bills))
                pack(tree, order, stream)
            else:
                with wheel.open("rb") as source:
                    shutil.copyfileobj(source, stream, 1 << 20)
        sizes = wheel.stat().st_size, target.stat().st_size
        return Result(target, slimmed, sizes, (before, size(tree)), lost_signature)


def unpack(wheel: Path, tree: Path) -> list[zipfile.ZipInfo]:
    """The files of the wheel in their order."""
    with archive.reading(wheel), archive.opened(wheel) as content:
        order = [each for each in content.infolist() if not each.is_dir()]
        names = [each.filename for each in order]
        if len(set(names)) != len(names):
            raise ValueError(f"{wheel}: {next(name for name in names if names.count(name) > 1)} is in it twice")
        content.extractall(tree)
        return order


def refuse_damaged(wheel: Wheel) -> None:
    """A wheel that isn't what its RECORD says: the new RECORD would vouch for it."""
    try:
        refuse(wheel, package.record_findings(wheel))
    except (csv.Error, UnicodeDecodeError):
        raise ValueError(f"{wheel.path.name}: its RECORD isn't a table in UTF-8") from None


def refuse(wheel: Wheel, findings: Iterable[Finding]) -> None:
    for each in findings:
        raise ValueError(f"{wheel.path.name}: {each.text}")


def drop_signatures(wheel: Wheel) -> bool:
    """Of the wheel as it was. True if it had one."""
    assert wheel.info is not None
    there = [wheel.info / name for name in _SIGNATURES if (wheel.info / name).exists()]
    for each in there:
        each.unlink()
    return bool(there)


def slim_files(wheel: Wheel, choice: Choice, folder: Path) -> dict[str, Slimmed]:
    """Replaces them in the tree once all are written."""
    names = {
        path: path.relative_to(wheel.tree).as_posix() for path in wheel.shared_objects() if file.has_what_can_go(path)
    }
    _refuse_missing(wheel, choice, names)
    folder.mkdir()
    found: dict[str, Slimmed] = {}
    written: dict[Path, Path] = {}
    for number, (path, name) in enumerate(names.items()):
        with named(wheel, name):
            found[name] = file.slim(path, choice, folder / str(number))
        if found[name].saved:
            written[path] = folder / str(number)
    digests = {old: new for path, made in written.items() for old, new in _digests(path, made)}
    for path, made in written.items():
        os.replace(made, path)
    _rewrite_bills(wheel, digests)
    return found


def _refuse_missing(wheel: Wheel, choice: Choice, names: dict[Path, str]) -> None:
    """Code that isn't in the wheel can't stay in it: most likely the wrong number, or the wrong wheel."""
    entries = []
    for path, name in names.items():
        with named(wheel, name):
            entries += file.entries(path)
    known = sorted({each.architecture for each in entries}, key=lambda name: (name.partition("_")[0], len(name), name))
    if not known:
        raise ValueError(
            f"{wheel.path.name}: it has no code for GPUs in CUDA's fat binaries, so there is nothing to choose from"
        )
    if missing := choice.missing(entries):
        raise ValueError(f"{wheel.path.name}: {', '.join(missing)}: it has no such code; it has {', '.join(known)}")


@contextmanager
def named(wheel: Wheel, name: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{wheel.path.name}: {name}: {error}") from None


def _digests(old: Path, new: Path) -> Iterator[tuple[str, str]]:
    for algorithm in _DIGESTS:
        yield _digest(old, algorithm).hex(), _digest(new, algorithm).hex()


def _digest(path: Path, algorithm: str) -> bytes:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, algorithm).digest()


def _rewrite_bills(wheel: Wheel, digests: dict[str, str]) -> None:
    """An SBOM may list digests of the files that changed. A digest is of one file only, so it can be replaced as text."""
    folder = wheel.info / "sboms" if wheel.info else None
    for path in sorted(folder.rglob("*")) if folder and folder.is_dir() else ():
        if path.is_file():
            content = path.read_bytes()
            new = _HEXADECIMAL.sub(
                lambda found: digests.get(found[0].decode().lower(), found[0].decode()).encode(), content
            )
            if new != content:
                path.write_bytes(new)


def write_record(wheel: Wheel) -> None:
    """RECORD of the files as they are now, in the order in which it was."""
    assert wheel.info is not None
    path = wheel.info / "RECORD"
    present = {file_.relative_to(wheel.tree).as_posix(): file_ for file_ in wheel.tree.rglob("*") if file_.is_file()}
    rows = []
    for name, digest, size in (
        row for row in csv.reader(path.read_text(encoding="utf-8").splitlines()) if len(row) == 3
    ):
        if name not in present:
            continue  # a signature that was taken away
        if digest:
            made = base64.urlsafe_b64encode(_digest(present[name], "sha256")).rstrip(b"=").decode()
            digest, size = f"sha256={made}", str(present[name].stat().st_size)
        rows.append((name, digest, size))
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    path.write_bytes(text.getvalue().encode())


def size(tree: Path) -> int:
    return sum(path.stat().st_size for path in tree.rglob("*") if path.is_file())


def pack(tree: Path, order: list[zipfile.ZipInfo], stream: BinaryIO) -> None:
    """The files in their order, with their times and rights: two runs give the same wheel."""
    with zipfile.ZipFile(stream, "w") as made:
        for each in order:
            path = tree / each.filename
            if not path.exists():
                continue  # a signature that was taken away
            new = zipfile.ZipInfo(each.filename, each.date_time)
            new.external_attr, new.create_system = each.external_attr, each.create_system
            new.compress_type = zipfile.ZIP_STORED if each.compress_type == zipfile.ZIP_STORED else zipfile.ZIP_DEFLATED
            new.file_size = path.stat().st_size  # tells zipfile whether the member needs 64 bits
            with path.open("rb") as source, made.open(new, "w") as member:
                shutil.copyfileobj(source, member, 1 << 20)


@contextmanager
def written_whole(target: Path, mode: int) -> Iterator[BinaryIO]:
    """A file that is at its place once it is complete, or not at all."""
    handle, partial = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        os.chmod(partial, mode)
        os.replace(partial, target)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
