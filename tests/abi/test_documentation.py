"""docs/abi.md and the comments of abi.h list what the header declares, in its order."""

from __future__ import annotations

import re

from support.host import INCLUDE, ROOT

HEADER = (INCLUDE / "kernpack" / "abi.h").read_text()
MANUAL = (ROOT / "docs" / "abi.md").read_text()


def services() -> list[tuple[str, str]]:
    """(minor, name) of every entry of KP_HOST_SERVICES."""
    table = HEADER.split("#define KP_HOST_SERVICES(X)")[1].split("#define KP_HOST_DECLARE_SERVICE_")[0]
    return re.findall(r"\bX\((\d+), (\w+),", table)


def test_the_manual_lists_every_service_in_order() -> None:
    section = MANUAL.split("## Host services")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \| 1\.(\d+) \|", section, re.MULTILINE)
    assert [(minor, name) for name, minor in listed] == services()


def test_the_header_describes_every_service() -> None:
    comment = HEADER.split("/* Every service in ABI order")[1].split("*/")[0]
    described = list(re.findall(r"^ \*  (\w+) {2,}|^ \*  (\w+) [a-z*]", comment, re.MULTILINE))
    names = [first or second for first, second in described]
    assert [name for name in names if name in {n: m for m, n in services()}] == [name for _, name in services()]


def test_the_manual_lists_every_type_index() -> None:
    block = HEADER.split("enum KpTypeIndex {")[1].split("};")[0]
    declared = {
        name: value
        for name, value in re.findall(r"(KP_TYPE_\w+) = (\d+)", block)
        if "STATIC_OBJECT" not in name and "DYNAMIC" not in name
    }
    listed = {name: value for value, name in re.findall(r"^\| (\d+) \| `(KP_TYPE_\w+)` \|", MANUAL, re.MULTILINE)}
    assert listed == declared


def test_sizes_in_the_manual_are_the_pinned_ones() -> None:
    pins = dict(re.findall(r"PIN_SIZE\((\w+), (\d+)\)", (ROOT / "tests" / "abi" / "layout_pins.h").read_text()))
    stated = re.findall(r"`(Kp\w+)` \((\d+) bytes\)", MANUAL)
    assert stated
    assert all(pins[name] == size for name, size in stated)


def test_the_header_describes_every_device_service() -> None:
    header = (INCLUDE / "kernpack" / "device_api.h").read_text()
    table = header.split("#define KP_DEVICE_SERVICES(X)")[1].split("#define KP_DEVICE_DECLARE_SERVICE_")[0]
    names = re.findall(r"\bX\(\d+, \w+, (\w+),", table)
    comment = header.split("/* Every service in ABI order: X(minor, needs")[1].split("*/")[0]
    heads = re.findall(r"^ \*  (\w+(?:, \w+)*) {2,}", comment, re.MULTILINE)
    described = [name for head in heads for name in head.split(", ")]
    assert len(names) > 30
    assert described == names
