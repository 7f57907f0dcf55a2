"""Findings of `kernpack check` in bills of materials, in SPDX and in CycloneDX."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from audit_inputs import Pack, problems

PLACE = "kernpack_kernels/a.txt"


def cyclonedx(name: str = "kernpack-kernels", version: str = "1.0.0", digest: str | None = None) -> object:
    bill: dict[str, object] = {"bomFormat": "CycloneDX", "metadata": {"component": {"name": name, "version": version}}}
    if digest:
        bill["components"] = [{"type": "file", "name": PLACE, "hashes": [{"alg": "SHA-256", "content": digest}]}]
    return bill


def spdx(name: str = "kernpack-kernels", version: str = "1.0.0", digest: str | None = None) -> object:
    described = {
        "spdxElementId": "SPDXRef-DOCUMENT",
        "relationshipType": "DESCRIBES",
        "relatedSpdxElement": "SPDXRef-own",
    }
    bill = {
        "spdxVersion": "SPDX-2.3",
        "packages": [
            {"SPDXID": "SPDXRef-part", "name": "zlib", "versionInfo": "1.3"},
            {"SPDXID": "SPDXRef-own", "name": name, "versionInfo": version},
        ],
        "relationships": [described],
    }
    if digest:
        checksum = {"algorithm": "SHA256", "checksumValue": digest}
        bill["files"] = [{"fileName": f"./{PLACE}", "checksums": [checksum]}]
    return bill


def older_spdx() -> object:
    bill = spdx()
    assert isinstance(bill, dict)
    return {**bill, "relationships": [], "documentDescribes": ["SPDXRef-own"]}


OF_A = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"  # SHA-256 of "a"
BROKEN = "isn't JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1)); write it again"
ANOTHER = "is of kernpack-kernels 0.9, the wheel is 1.0.0; write it again"
OTHER_JSON = "expected SPDX 2 or CycloneDX, got other JSON; generate it again"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (cyclonedx(), None),
        (cyclonedx(digest=OF_A), None),
        (cyclonedx(version="0.9"), ANOTHER),
        (cyclonedx(name="other"), "describes other, expected kernpack_kernels; generate it again"),
        (cyclonedx(digest="00"), f"lists a SHA-256 of {PLACE} that isn't the file's; generate it again"),
        (spdx(), None),
        (spdx(digest=OF_A), None),
        (older_spdx(), None),
        (spdx(version="0.9"), ANOTHER),
        (spdx(name="other"), "describes other, expected kernpack_kernels; generate it again"),
        (spdx(digest="00"), f"lists a SHA256 of {PLACE} that isn't the file's; generate it again"),
        ({"spdxVersion": "SPDX-2.3", "packages": 3}, "describes no package, expected kernpack_kernels; generate it again"),
        ({"bomFormat": "CycloneDX", "metadata": []}, "describes no package, expected kernpack_kernels; generate it again"),
        ([], OTHER_JSON),
        ({}, OTHER_JSON),
        ("{", BROKEN),
    ],
)  # fmt: skip
def test_the_sbom_of_our_wheels(pack: Pack, document: object, said: str | None) -> None:
    text = document if isinstance(document, str) else json.dumps(document)
    wheel = pack({PLACE: "a", "INFO/sboms/k.json": text}, name="kernpack_kernels", tag="py3-none-any")
    assert problems(wheel) == ([f"sboms/k.json: {said}"] if said else [])


def test_our_wheels_have_one(pack: Pack) -> None:
    wheel = pack({PLACE: "a"}, name="kernpack_kernels", tag="py3-none-any")
    assert problems(wheel) == ["has no SBOM; `make wheels` puts one into .dist-info/sboms"]


@pytest.mark.parametrize("document", [cyclonedx(name="auditwheel"), spdx(name="zlib"), [], {"spdxVersion": 3}])
def test_sboms_of_others_may_describe_parts_or_be_of_other_formats(pack: Pack, plain: Path, document: object) -> None:
    """auditwheel's and maturin's describe what they brought in."""
    files: dict[str, Path | str] = {"my_kernels/my_kernels.so": plain, "INFO/sboms/k.json": json.dumps(document)}
    assert problems(pack(files)) == []


@pytest.mark.parametrize("kind", [cyclonedx, spdx])
def test_a_changed_file_is_found_in_wheels_of_others(pack: Pack, kind: object) -> None:
    assert callable(kind)
    document = kind(name="other", digest="00")
    (problem,) = problems(
        pack({PLACE: "a", "INFO/sboms/k.json": json.dumps(document)}, name="other", tag="py3-none-any")
    )
    assert problem.endswith(f" of {PLACE} that isn't the file's; generate it again")
