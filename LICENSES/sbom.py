"""Puts an SBOM into wheels: `sbom.py <wheel>...`, as PEP 770 has it, in SPDX 2.3's JSON, at <dist-info>/sboms/kernpack.spdx.json.

It lists what LICENSES/components.toml says is inside, with the versions of the packages that brought it to this machine."""

from __future__ import annotations

import email.parser
import importlib.metadata
import os
import subprocess
import sys
import tempfile
import tomllib
import uuid
from datetime import UTC, datetime
from pathlib import Path

from packaging.utils import parse_wheel_filename
from spdx_tools.common.spdx_licensing import spdx_licensing
from spdx_tools.spdx.model import (
    Actor,
    ActorType,
    CreationInfo,
    Document,
    ExternalPackageRef,
    ExternalPackageRefCategory,
    Package,
    PackagePurpose,
    Relationship,
    RelationshipType,
    SpdxNoAssertion,
)
from spdx_tools.spdx.writer.json.json_writer import write_document_to_file

COMPONENTS = Path(__file__).resolve().with_name("components.toml")
PLACE = "sboms/kernpack.spdx.json"
DOCUMENT = "SPDXRef-DOCUMENT"


def _version(kind: str, package: str) -> str:
    """Of what is installed here."""
    if kind == "pypi":
        return importlib.metadata.version(package)
    query = ["dpkg-query", "-W", "-f", "${Version}", package]
    return subprocess.run(query, check=True, capture_output=True, text=True).stdout


def _package(name: str, version: str, licence: str, url: str) -> Package:
    return Package(
        spdx_id=f"SPDXRef-{name}",
        name=name,
        version=version,
        download_location=SpdxNoAssertion(),
        files_analyzed=False,
        license_declared=spdx_licensing.parse(licence),
        license_concluded=SpdxNoAssertion(),
        copyright_text=SpdxNoAssertion(),
        primary_package_purpose=PackagePurpose.LIBRARY,
        external_references=[ExternalPackageRef(ExternalPackageRefCategory.PACKAGE_MANAGER, "purl", url)],
    )


def bill(wheel: str, version: str, licence: str, record: str) -> Document:
    """`licence` is the wheel's License-Expression; its RECORD names this document, so that equal wheels have equal names."""
    own = _package(wheel, version, licence, f"pkg:pypi/{wheel}@{version}")
    packages, relationships = [own], [Relationship(DOCUMENT, RelationshipType.DESCRIBES, own.spdx_id)]
    for name, entry in tomllib.loads(COMPONENTS.read_text(encoding="utf-8")).items():
        if wheel not in entry["wheels"]:
            continue
        kind, _, source = entry["from"].partition(":")
        brought = _version(kind, source)
        place = f"deb/debian/{source}" if kind == "deb" else f"pypi/{source}"
        packages.append(_package(name, brought, entry["license"], f"pkg:{place}@{brought}"))
        relationships.append(Relationship(own.spdx_id, RelationshipType.CONTAINS, packages[-1].spdx_id))
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    created = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    about = CreationInfo(
        spdx_version="SPDX-2.3",
        spdx_id=DOCUMENT,
        name=f"{wheel}-{version}",
        document_namespace=f"https://spdx.org/spdxdocs/{wheel}-{version}-{uuid.uuid5(uuid.NAMESPACE_OID, record)}",
        creators=[Actor(ActorType.TOOL, f"LICENSES/sbom.py-{version}")],
        created=created.replace(tzinfo=None, microsecond=0),
    )
    return Document(about, packages=packages, relationships=relationships)


def add(wheel: Path) -> None:
    name, version, _, _ = parse_wheel_filename(wheel.name)
    tool = [sys.executable, "-m", "wheel"]
    with tempfile.TemporaryDirectory() as temporary:
        subprocess.run([*tool, "unpack", "--dest", temporary, wheel], check=True, stdout=subprocess.DEVNULL)
        (tree,) = Path(temporary).iterdir()
        (info,) = tree.glob("*.dist-info")
        metadata = email.parser.Parser().parsestr((info / "METADATA").read_text(encoding="utf-8"))
        document = bill(name, str(version), metadata["License-Expression"], (info / "RECORD").read_text("utf-8"))
        (info / PLACE).parent.mkdir(exist_ok=True)
        write_document_to_file(document, str(info / PLACE))  # and validates it
        subprocess.run([*tool, "pack", "--dest-dir", wheel.parent, tree], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        add(Path(argument))
        print(f"{argument}: {PLACE}")
