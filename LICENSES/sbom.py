"""Puts an SBOM into wheels: `sbom.py <wheel>...`, as PEP 770 has it, in CycloneDX's JSON, at <dist-info>/sboms/kernpack.cdx.json.

It lists what LICENSES/components.toml says is inside, with the versions of the packages that brought it to this machine."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.utils import parse_wheel_filename

COMPONENTS = Path(__file__).resolve().with_name("components.toml")
PLACE = "sboms/kernpack.cdx.json"


def _package(name: str) -> PackageURL:
    """pypi:ziglang or deb:libssl-dev, with the version that is installed here."""
    kind, _, package = name.partition(":")
    if kind == "pypi":
        return PackageURL("pypi", name=package, version=importlib.metadata.version(package))
    query = ["dpkg-query", "-W", "-f", "${Version}", package]
    version = subprocess.run(query, check=True, capture_output=True, text=True).stdout
    return PackageURL("deb", namespace="debian", name=package, version=version)


def bom(wheel: str, version: str) -> Bom:
    licenses = LicenseFactory()
    result = Bom()
    own = Component(name=wheel, version=version, type=ComponentType.LIBRARY, bom_ref=wheel)
    own.purl = PackageURL("pypi", name=wheel, version=version)
    own.licenses = [licenses.make_with_expression("Apache-2.0")]
    result.metadata.component = own
    for name, entry in tomllib.loads(COMPONENTS.read_text(encoding="utf-8")).items():
        if wheel not in entry["wheels"]:
            continue
        source = _package(entry["from"])
        part = Component(name=name, version=source.version, type=ComponentType.LIBRARY, bom_ref=name, purl=source)
        part.licenses = [licenses.make_with_expression(entry["license"])]
        result.components.add(part)
        result.register_dependency(own, [part])
    return result


def add(wheel: Path) -> None:
    name, version, _, _ = parse_wheel_filename(wheel.name)
    tool = [sys.executable, "-m", "wheel"]
    with tempfile.TemporaryDirectory() as temporary:
        subprocess.run([*tool, "unpack", "--dest", temporary, wheel], check=True, stdout=subprocess.DEVNULL)
        (tree,) = Path(temporary).iterdir()
        (info,) = tree.glob("*.dist-info")
        (info / PLACE).parent.mkdir(exist_ok=True)
        (info / PLACE).write_text(JsonV1Dot6(bom(name, str(version))).output_as_string(indent=1), encoding="utf-8")
        subprocess.run([*tool, "pack", "--dest-dir", wheel.parent, tree], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        add(Path(argument))
        print(f"{argument}: {PLACE}")
