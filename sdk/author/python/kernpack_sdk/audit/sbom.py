"""The bills of materials in a wheel (PEP 770): SPDX 2 and CycloneDX, both as JSON. Other formats are left alone."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernpack_sdk.audit.binary import Finding
from kernpack_sdk.audit.package import Wheel, normalized, plain

# Whose wheels carry an SBOM.
_OURS = re.compile(r"^kernpack(_kernels|_compiler|_sdk)?$")


@dataclass
class Bill:
    """The content of an SBOM of any format: its package, and (file, algorithm, digest) for each file."""

    name: str
    version: str
    digests: list[tuple[str, str, str]]


def findings(wheel: Wheel) -> Iterator[Finding]:
    folder = wheel.info / "sboms" if wheel.info else None
    found = sorted(p for p in folder.rglob("*") if p.is_file()) if folder and folder.is_dir() else []
    if wheel.info and not found and _OURS.match(wheel.name):
        yield Finding("has no SBOM; `make wheels` puts one into .dist-info/sboms")
    for file in found:
        yield from (Finding(f"sboms/{file.name}: {text}") for text in _of_file(wheel, file))


def _of_file(wheel: Wheel, file: Path) -> Iterator[str]:
    if file.suffix != ".json":
        return
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        yield f"isn't JSON ({error}); write it again"
        return
    bill = _read(document)
    if bill is None:
        if _OURS.match(wheel.name):
            yield "expected SPDX 2 or CycloneDX, got other JSON; generate it again"
        return
    about_it = normalized(bill.name) == normalized(wheel.name)
    if _OURS.match(wheel.name) and not about_it:
        yield f"describes {bill.name or 'no package'}, expected {wheel.name}; generate it again"
    elif about_it and bill.version and plain(bill.version) != plain(wheel.version):
        yield f"is of {bill.name} {bill.version}, the wheel is {wheel.version}; write it again"
    for name, algorithm, digest in bill.digests:
        place = wheel.tree / name
        known = algorithm.replace("-", "").lower()
        if place.is_file() and known in hashlib.algorithms_guaranteed and digest != _hex(place, known):
            yield f"lists a {algorithm} of {name} that isn't the file's; generate it again"


def _hex(path: Path, algorithm: str) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()


def _read(document: Any) -> Bill | None:
    if not isinstance(document, dict):
        return None
    if document.get("bomFormat") == "CycloneDX":
        return _cyclonedx(document)
    if str(document.get("spdxVersion", "")).startswith("SPDX-2."):
        return _spdx(document)
    return None


def _cyclonedx(document: dict[str, Any]) -> Bill:
    metadata = document.get("metadata")
    subject = metadata.get("component") if isinstance(metadata, dict) else None
    return Bill(
        *_named(subject, "version"),
        [
            (str(part.get("name", "")), str(each.get("alg", "")), str(each.get("content", "")))
            for part in _items(document, "components")
            if part.get("type") == "file"
            for each in _items(part, "hashes")
        ],
    )


def _spdx(document: dict[str, Any]) -> Bill:
    """Of the first package that the document describes: by a relationship, or by the older list documentDescribes."""
    described = [
        each.get("relatedSpdxElement")
        for each in _items(document, "relationships")
        if each.get("relationshipType") == "DESCRIBES" and each.get("spdxElementId") == "SPDXRef-DOCUMENT"
    ]
    older = document.get("documentDescribes")
    described += older if isinstance(older, list) else []
    subject = next((p for p in _items(document, "packages") if p.get("SPDXID") in described), None)
    return Bill(
        *_named(subject, "versionInfo"),
        [
            (
                str(part.get("fileName", "")).removeprefix("./"),
                str(each.get("algorithm", "")),
                str(each.get("checksumValue", "")),
            )
            for part in _items(document, "files")
            for each in _items(part, "checksums")
        ],
    )


def _named(package: Any, version: str) -> tuple[str, str]:
    known = package if isinstance(package, dict) else {}
    return str(known.get("name", "")), str(known.get(version, ""))


def _items(parent: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects of a list; nothing where others wrote something else there."""
    value = parent.get(key)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
