"""Compares the metadata of a wheel with its content."""

from __future__ import annotations

import base64
import csv
import email.message
import email.parser
import hashlib
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from kernpack_sdk.audit.binary import OPENMP, Finding


class Wheel:
    """An unpacked wheel."""

    def __init__(self, path: Path, tree: Path) -> None:
        self.path, self.tree = path, tree
        parts = path.name.removesuffix(".whl").split("-")
        if len(parts) not in (5, 6):
            raise ValueError(f"{path.name}: not a wheel's name: expected NAME-VERSION-PYTHON-ABI-PLATFORM.whl")
        self.name, self.version = parts[0], parts[1]
        self.python, self.abi, self.platform = parts[-3:]
        self.info = find_info(tree)

    def message(self, name: str) -> email.message.Message:
        return read_message(self.info, name)

    def shared_objects(self) -> list[Path]:
        return shared_objects(self.tree)


SHARED_OBJECT = re.compile(r"\.so(\.[\d.]+)?$|\.(dll|pyd)$")


def find_info(tree: Path) -> Path | None:
    """The .dist-info folder of an unpacked wheel."""
    return next(iter(sorted(tree.glob("*.dist-info"))), None)


def read_message(info: Path | None, name: str) -> email.message.Message:
    """METADATA or WHEEL; without fields where the file isn't there."""
    file = info / name if info else None
    text = file.read_text(encoding="utf-8", errors="replace") if file and file.is_file() else ""
    return email.parser.Parser().parsestr(text)


def shared_objects(folder: Path) -> list[Path]:
    """All of them below the folder, whoever made them; links aside."""
    return [path for path in sorted(folder.rglob("*")) if SHARED_OBJECT.search(path.name) and _is_binary(path)]


def _is_binary(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(4).startswith((b"\x7fELF", b"MZ"))


def findings(wheel: Wheel) -> Iterator[Finding]:
    if wheel.info is None:
        yield Finding("has no .dist-info folder: it isn't a wheel; build it again")
        return
    yield from _names(wheel)
    yield from _tags(wheel)
    yield from record_findings(wheel)
    yield from _python(wheel)
    yield from _license(wheel)
    yield from _openmp(wheel)


def _names(wheel: Wheel) -> Iterator[Finding]:
    metadata = wheel.message("METADATA")
    for field, claimed, true in (
        ("Name", normalized(wheel.name), normalized(metadata.get("Name", ""))),
        ("Version", plain(wheel.version), plain(metadata.get("Version", ""))),
    ):
        if claimed != true:
            yield Finding(
                f"is called {wheel.name} {wheel.version}, but its METADATA says {field}: {metadata.get(field)}; don't rename wheels"
            )


def _tags(wheel: Wheel) -> Iterator[Finding]:
    about = wheel.message("WHEEL")
    inside = {tag for line in about.get_all("Tag") or [] for tag in _expanded(line.strip())}
    claimed = _expanded(f"{wheel.python}-{wheel.abi}-{wheel.platform}")
    if inside != claimed:
        both = ", ".join(sorted(inside ^ claimed))
        yield Finding(f"its name and its WHEEL file disagree on tags ({both}); set tags with `python -m wheel tags`")
    machine_code = wheel.shared_objects()
    if machine_code and wheel.platform == "any":
        yield Finding(f"is tagged for any platform, but holds {machine_code[0].name}")
    if machine_code and about.get("Root-Is-Purelib", "").lower() == "true":
        yield Finding("says Root-Is-Purelib: true, but holds machine code", serious=False)


def _expanded(tags: str) -> set[str]:
    """ "cp39-abi3-a.b" is two tags."""
    return {"-".join(each) for each in itertools.product(*(part.split(".") for part in tags.split("-")))}


def record_findings(wheel: Wheel) -> Iterator[Finding]:
    """RECORD lists every file with its hash; installers and kernpack.load compare them."""
    assert wheel.info is not None
    file = wheel.info / "RECORD"
    if not file.is_file():
        yield Finding("has no RECORD; pack it with `python -m wheel pack`")
        return
    listed = {row[0]: row[1] for row in csv.reader(file.read_text(encoding="utf-8").splitlines()) if len(row) == 3}
    for path in sorted(p for p in wheel.tree.rglob("*") if p.is_file()):
        name = path.relative_to(wheel.tree).as_posix()
        if name not in listed:
            if not name.endswith(("RECORD.jws", "RECORD.p7s")):
                yield Finding(f"{name} isn't in its RECORD; pack it with `python -m wheel pack`")
        elif path != file and listed[name] and listed[name] != _hash(path, listed[name].partition("=")[0]):
            yield Finding(f"{name} isn't the file that RECORD has the hash of; pack it with `python -m wheel pack`")
    yield from (
        Finding(f"RECORD lists {name}, which isn't there; pack it with `python -m wheel pack`")
        for name in sorted(listed)
        if not (wheel.tree / name).is_file()
    )


def _hash(path: Path, algorithm: str) -> str:
    if algorithm not in hashlib.algorithms_guaranteed:
        return ""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, algorithm).digest()
    return f"{algorithm}={base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


def _python(wheel: Wheel) -> Iterator[Finding]:
    """Without it, pip installs the wheel for any Python, old ones too."""
    if not wheel.message("METADATA").get("Requires-Python"):
        yield Finding(
            'METADATA doesn\'t say which Python it needs; in pyproject.toml: requires-python = ">=3.11"', serious=False
        )


def _license(wheel: Wheel) -> Iterator[Finding]:
    assert wheel.info is not None
    metadata = wheel.message("METADATA")
    files = metadata.get_all("License-File") or []
    for name in files:
        if not any((wheel.info / place / name).is_file() for place in ("licenses", "")):
            yield Finding(f"METADATA names the licence file {name}, which isn't in {wheel.info.name}; name one that is")
    said = files or metadata.get("License-Expression") or metadata.get("License")
    classified = any("License ::" in each for each in metadata.get_all("Classifier") or [])
    if not said and not classified:
        yield Finding(
            'declares no licence; in pyproject.toml: license = "Apache-2.0" and license-files = ["LICENSE"]',
            serious=False,
        )


def _openmp(wheel: Wheel) -> Iterator[Finding]:
    brought = [p.relative_to(wheel.tree).as_posix() for p in wheel.shared_objects() if OPENMP.match(p.name)]
    for name in brought:
        yield Finding(
            f"brings an OpenMP runtime of its own ({name}); in a process with another one, each starts its own threads",
            serious=False,
        )


def normalized(name: str) -> str:
    """A distribution's name as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def plain(version: str) -> str:
    """A version in the one spelling that installers compare; as it is where it's none."""
    from packaging.utils import canonicalize_version

    return canonicalize_version(version)
