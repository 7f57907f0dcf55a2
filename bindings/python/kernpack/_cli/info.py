"""`kernpack info`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from typing import Any


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def _rows(key: str, value: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    """The lines of an entry. Several backends of one driver have the same reason for having no devices, and it is told once."""
    if key != "devices":
        return value.items()
    names: dict[str, list[str]] = {}
    for name, detail in value.items():
        names.setdefault(detail, []).append(name)
    return [(", ".join(group), detail) for detail, group in names.items()]


def run(options: argparse.Namespace) -> int:
    from kernpack import info

    facts = info()
    if options.json:
        print(json.dumps(facts, indent=2))
        return 0
    for key, value in facts.items():
        if isinstance(value, dict):
            print(f"{key}:" if value else f"{key}: none")
            for names, detail in _rows(key, value):
                print(f"  {names}: {detail}")
        else:
            print(f"{key}: {value}")
    return 0
