"""Each wheel carries an SBOM (PEP 770) of what LICENSES/components.toml says is inside."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from cyclonedx.model.bom import Bom

ROOT = Path(__file__).resolve().parents[3]
COMPONENTS = tomllib.loads((ROOT / "LICENSES/components.toml").read_text(encoding="utf-8"))
WHEELS = {
    "kernpack": "runtime",
    "kernpack-sdk": "sdk",
    "kernpack-kernels": "kernels",
    "kernpack-compiler": "compiler",
}


@pytest.mark.parametrize("wheel", WHEELS)
def test_sbom_lists_what_the_wheel_contains(wheel: str, request: pytest.FixtureRequest) -> None:
    unpacked: Path = request.getfixturevalue(WHEELS[wheel])
    (info,) = unpacked.glob("*.dist-info")
    files = [path.relative_to(info).as_posix() for path in (info / "sboms").iterdir()]
    assert files == ["sboms/kernpack.cdx.json"]
    bom = Bom.from_json(json.loads((info / files[0]).read_text(encoding="utf-8")))

    own = bom.metadata.component
    assert (own.name, f"kernpack{wheel.removeprefix('kernpack').replace('-', '_')}-{own.version}.dist-info") == (
        wheel,
        info.name,
    )
    inside = {component.name: component for component in bom.components}
    assert set(inside) == {name for name, entry in COMPONENTS.items() if wheel in entry["wheels"]}
    for name, component in inside.items():
        assert [licence.value for licence in component.licenses] == [COMPONENTS[name]["license"]]
        assert component.version
        kind, _, package = COMPONENTS[name]["from"].partition(":")
        assert (component.purl.type, component.purl.name) == (kind, package)
        assert component.purl.version == component.version


def test_installers_are_told_of_the_sbom(runtime: Path) -> None:
    (record,) = runtime.glob("*.dist-info/RECORD")
    (line,) = [line for line in record.read_text().splitlines() if "/sboms/" in line]
    assert "sha256=" in line
