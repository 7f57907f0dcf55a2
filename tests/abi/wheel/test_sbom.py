"""Each wheel carries an SBOM (PEP 770) of what LICENSES/components.toml says is inside, in SPDX."""

from __future__ import annotations

import email.parser
import tomllib
from pathlib import Path

import pytest
from spdx_tools.spdx.model import RelationshipType
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

ROOT = Path(__file__).resolve().parents[3]
COMPONENTS = tomllib.loads((ROOT / "LICENSES/components.toml").read_text(encoding="utf-8"))
WHEELS = {
    "kernpack": "runtime",
    "kernpack-sdk": "sdk",
    "kernpack-kernels": "kernels",
    "kernpack-compiler": "compiler",
    "kernpack-cuda-emulator": "emulator",
}


@pytest.mark.parametrize("wheel", WHEELS)
def test_sbom_lists_what_the_wheel_contains(wheel: str, request: pytest.FixtureRequest) -> None:
    unpacked: Path = request.getfixturevalue(WHEELS[wheel])
    (info,) = unpacked.glob("*.dist-info")
    files = [path.relative_to(info).as_posix() for path in (info / "sboms").iterdir()]
    assert files == ["sboms/kernpack.spdx.json"]
    document = parse_file(str(info / files[0]))
    assert validate_full_spdx_document(document, "SPDX-2.3") == []

    packages = {package.spdx_id: package for package in document.packages}
    related = {
        kind: [each.related_spdx_element_id for each in document.relationships if each.relationship_type is kind]
        for kind in RelationshipType
    }
    (own,) = (packages.pop(each) for each in related[RelationshipType.DESCRIBES])
    metadata = email.parser.Parser().parsestr((info / "METADATA").read_text(encoding="utf-8"))
    assert (own.name, own.version) == (metadata["Name"], metadata["Version"])
    assert str(own.license_declared) == metadata["License-Expression"]

    inside = {packages[each].name: packages[each] for each in related[RelationshipType.CONTAINS]}
    assert len(inside) == len(packages)
    assert set(inside) == {name for name, entry in COMPONENTS.items() if wheel in entry["wheels"]}
    for name, package in inside.items():
        assert str(package.license_declared) == COMPONENTS[name]["license"]
        assert package.version
        kind, _, source = COMPONENTS[name]["from"].partition(":")
        place = f"{kind}/debian/{source}" if kind == "deb" else f"{kind}/{source}"
        assert [each.locator for each in package.external_references] == [f"pkg:{place}@{package.version}"]


def test_installers_are_told_of_the_sbom(runtime: Path) -> None:
    (record,) = runtime.glob("*.dist-info/RECORD")
    (line,) = [line for line in record.read_text().splitlines() if "/sboms/" in line]
    assert "sha256=" in line
