"""Each wheel's metadata names the licences of what it contains, and the files with their texts are there."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
NOTICES = ROOT / "LICENSES"
COMPONENTS = tomllib.loads((NOTICES / "components.toml").read_text(encoding="utf-8"))
PROJECTS = {
    "kernpack": ROOT,
    "kernpack-compiler": ROOT / "bindings/compiler",
    "kernpack-cuda-emulator": ROOT / "bindings/emulator",
    "kernpack-kernels": ROOT / "kernels",
    "kernpack-sdk": ROOT / "sdk/author",
}


@pytest.mark.parametrize("wheel", PROJECTS)
def test_metadata_names_what_the_wheel_contains(wheel: str) -> None:
    folder = PROJECTS[wheel]
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == wheel
    contained = {name: entry for name, entry in COMPONENTS.items() if wheel in entry["wheels"]}
    assert set(project["license"].split(" AND ")) == {"Apache-2.0", *(c["license"] for c in contained.values())}
    assert set(project["license-files"]) == {"LICENSE", *(f"LICENSES/{name}.txt" for name in contained)}
    for name in project["license-files"]:
        assert (folder / name).stat().st_size > 500, name


def test_every_notice_belongs_to_a_wheel() -> None:
    assert {path.stem for path in NOTICES.glob("*.txt")} == set(COMPONENTS)
    assert {wheel for entry in COMPONENTS.values() for wheel in entry["wheels"]} <= set(PROJECTS)


@pytest.mark.parametrize("wheel", PROJECTS)
def test_wheel_carries_the_notices_its_metadata_names(wheel: str, request: pytest.FixtureRequest) -> None:
    fixtures = {"kernpack": "runtime", "kernpack-cuda-emulator": "emulator"}
    unpacked: Path = request.getfixturevalue(fixtures.get(wheel, wheel.removeprefix("kernpack-")))
    (info,) = unpacked.glob("*.dist-info")
    project = tomllib.loads((PROJECTS[wheel] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    metadata = (info / "METADATA").read_text(encoding="utf-8")
    assert f"\nLicense-Expression: {project['license']}\n" in metadata
    for name in project["license-files"]:
        assert f"\nLicense-File: {name}\n" in metadata
        assert (info / "licenses" / name).read_bytes() == (PROJECTS[wheel] / name).read_bytes()
    carried = {p.relative_to(info / "licenses").as_posix() for p in (info / "licenses").rglob("*") if p.is_file()}
    assert carried == set(project["license-files"])
