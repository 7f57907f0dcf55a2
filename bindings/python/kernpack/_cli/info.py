"""`kernpack info`."""

from __future__ import annotations

import argparse
import json


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from kernpack import info

    facts = info()
    if options.json:
        print(json.dumps(facts, indent=2))
        return 0
    for key, value in facts.items():
        if isinstance(value, dict):
            print(f"{key}:" if value else f"{key}: none")
            for name, detail in value.items():
                print(f"  {name}: {detail}")
        else:
            print(f"{key}: {value}")
    return 0
