"""The metadata of a release's wheels: one version, types, entry points, sizes."""

from __future__ import annotations

import configparser
import re
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from conftest import NAMES, ROOT
from packaging.utils import parse_wheel_filename

MIB = 1024 * 1024
BUDGETS = {
    "kernpack": 2 * MIB,
    "kernpack-sdk": 3 * MIB // 4,
    "kernpack-kernels": 3 * MIB,
    "kernpack-compiler": 40 * MIB,
    "kernpack-cuda-emulator": 3 * MIB,
}
ENTRY_POINTS = {
    "kernpack": {
        "console_scripts": {"kernpack": "kernpack._cli:main"},
        "pyinstaller40": {"hook-dirs": "kernpack._freeze:hook_dirs"},
    },
    "kernpack-sdk": {
        "console_scripts": {"kernpack-config": "kernpack_sdk.cli:config_main"},
        "cmake.root": {"kernpack": "kernpack_sdk"},
        "pytest11": {"kernpack": "kernpack_sdk.testing.plugin"},
    },
    "kernpack-kernels": {"kernpack.modules": {"kernpack_kernels": "kernpack_kernels"}},
}


def _read(wheel: Path, name: str) -> str | None:
    with zipfile.ZipFile(wheel) as archive:
        found = [
            member for member in archive.namelist() if re.fullmatch(rf"[^/]+\.dist-info/{re.escape(name)}", member)
        ]
        return archive.read(found[0]).decode() if found else None


def _metadata(wheel: Path) -> Message:
    text = _read(wheel, "METADATA")
    assert text is not None
    return Parser().parsestr(text)


def test_one_version_from_one_source(built: dict[str, Path]) -> None:
    header = (ROOT / "ffi/include/kernpack/module.h").read_text(encoding="utf-8")
    (version,) = re.findall(r'#define KP_SDK_VERSION "([^"]+)"', header)
    assert {name: str(parse_wheel_filename(path.name)[1]) for name, path in built.items()} == dict.fromkeys(
        NAMES, version
    )
    assert {_metadata(path)["Version"] for path in built.values()} == {version}
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {version}" in changes


@pytest.mark.parametrize("name", NAMES)
def test_size(built: dict[str, Path], name: str) -> None:
    assert built[name].stat().st_size <= BUDGETS[name]


@pytest.mark.parametrize("name", NAMES)
def test_typed(built: dict[str, Path], name: str) -> None:
    with zipfile.ZipFile(built[name]) as archive:
        assert f"{name.replace('-', '_')}/py.typed" in archive.namelist()


@pytest.mark.parametrize("name", NAMES)
def test_entry_points(built: dict[str, Path], name: str) -> None:
    text = _read(built[name], "entry_points.txt")
    parser = configparser.ConfigParser(delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text or "")
    assert {section: dict(parser[section]) for section in parser.sections()} == ENTRY_POINTS.get(name, {})


@pytest.mark.parametrize("name", NAMES)
def test_metadata_tells_what_a_stranger_needs(built: dict[str, Path], name: str) -> None:
    metadata = _metadata(built[name])
    assert metadata["Summary"]
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"]
    page = str(metadata.get_payload())  # what the index shows
    assert len(page) > 200
    assert "pip install" in page or name != "kernpack"
    # Nothing there reaches into this repository.
    assert not re.findall(r"\]\((?!https://)[^)]*\)|<img", page)
