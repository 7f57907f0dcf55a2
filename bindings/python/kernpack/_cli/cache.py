"""`kernpack cache`: what compiled and loaded modules take on disk."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from kernpack._cli.look import Wrong
from kernpack._cli.parser import number
from kernpack._compile import cache_dir

# The folders that Kernpack makes inside its cache: nothing else in there is listed or removed.
_PARTS = {
    "inline": "compiled by load_inline and load",
    "support": "the support library that such modules are linked with",
    "dev": "built by kernpack dev",
    "modules": "copies of loaded modules, under their own names for debuggers",
    "opencl": "device code built by OpenCL drivers",
    "cuda": "device code that NVRTC compiled from sources in modules",
    "hooks": "for PyInstaller, one per installed kernel package",
}


@dataclass(frozen=True)
class Part:
    name: str
    what: str
    path: str
    entries: int
    bytes: int


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=("list", "clean"), default="list", help="default: list")
    days = number(float, "a number of days, 0 or more", 0)
    parser.add_argument("--older", type=days, metavar="DAYS", help="clean: remove only files older than DAYS days")
    parser.add_argument(
        "--dry-run", action="store_true", help="clean: print the files that would be removed, and remove nothing"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.action == "list" and (options.older is not None or options.dry_run):
        raise Wrong("--older and --dry-run belong to `kernpack cache clean`")
    before = None if options.older is None else time.time() - options.older * 86400
    parts = [_part(name, before) for name in _PARTS]
    failed = []
    if options.action == "clean" and not options.dry_run:
        failed = [line for name in _PARTS for line in _remove(name, before)]
    folder, bytes_ = cache_dir(), sum(part.bytes for part in parts)
    if options.json:
        facts = {"folder": str(folder), "bytes": bytes_, "parts": [asdict(part) for part in parts], "failed": failed}
        print(json.dumps(facts, indent=2))
    else:
        print(folder)
        for part in parts:
            print(f"  {part.name:8} {_size(part.bytes):>10}  {part.entries:6} entries  {part.what}")
        if options.action == "clean":
            print(f"{'would remove' if options.dry_run else 'removed'} {_size(bytes_)}")
    for line in failed:
        print(f"kernpack cache: {line}", file=sys.stderr)
    return int(bool(failed))


def _entries(name: str, before: float | None) -> Iterator[Path]:
    folder = cache_dir() / name
    if folder.is_symlink() or not folder.is_dir():
        return
    for path in folder.iterdir():
        if before is None or path.lstat().st_mtime < before:
            yield path


def _part(name: str, before: float | None) -> Part:
    found = list(_entries(name, before))
    return Part(name, _PARTS[name], str(cache_dir() / name), len(found), sum(map(_bytes, found)))


def _bytes(path: Path) -> int:
    if path.is_symlink() or not path.is_dir():
        return path.lstat().st_size
    return sum(_bytes(Path(entry.path)) for entry in os.scandir(path))


def _remove(name: str, before: float | None) -> Iterator[str]:
    """Yields the entries that couldn't be removed. A module that a process has loaded stays loaded: its memory outlives the name."""
    for path in list(_entries(name, before)):
        try:
            if path.is_symlink() or not path.is_dir():
                path.unlink(missing_ok=True)
            else:
                shutil.rmtree(path)
        except OSError as error:
            yield f"{path}: {error.strerror}"


def _size(count: int) -> str:
    value = float(count)
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
