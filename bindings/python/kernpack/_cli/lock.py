"""`kernpack lock`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from kernpack._cli.look import Failure


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="default: the path in KERNPACK_REQUIRE_LOCK, else kernpack.lock",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from kernpack import _lock

    path = options.output or _lock.default_path()
    try:
        wheels = _lock.lock()
        if not wheels:
            raise _lock.LockError("missing-wheel", "no kernel wheel is installed here; pip install one first")
        _lock.write(path, wheels)
    except _lock.LockError as error:
        raise Failure(str(error)) from None
    rows = [{"name": each.name, "version": each.version, "files": len(each.files)} for each in wheels]
    if options.json:
        print(json.dumps({"lock": str(path), "wheels": rows}, indent=2))
        return 0
    for row in rows:
        print(f"{row['name']} {row['version']}: {row['files']} files")
    print(f"wrote {path}")
    return 0
