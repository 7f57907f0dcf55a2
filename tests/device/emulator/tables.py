"""Writes a table of docs/emulator.md from the lines that programs printed on the emulated device.

`python tables.py TARGET DEVICE=FILE...`: each line of a file is `name: right within 1.2e-07, 0.031 s`. A name's row has the
largest difference and the largest time of each device, over all files of that device. The table stands in the page between two
comments that name the target of make.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "emulator.md"
_LINE = re.compile(r"(?P<name>[\w ]+): right within (?P<error>\S+), (?P<seconds>\S+) s")


def read(lines: Iterable[str]) -> dict[str, tuple[float, float]]:
    """The largest difference and the largest time by name; lines of another form are left out."""
    found: dict[str, tuple[float, float]] = {}
    for line in lines:
        if match := _LINE.fullmatch(line.strip()):
            error, seconds = found.get(match["name"], (0.0, 0.0))
            found[match["name"]] = (max(error, float(match["error"])), max(seconds, float(match["seconds"])))
    return found


def table(by_device: dict[str, dict[str, tuple[float, float]]]) -> str:
    devices = list(by_device)
    columns = [f"{what} on `{device}`" for device in devices for what in ("largest difference", "ms")]
    lines = ["| kernel | " + " | ".join(columns) + " |", "| -- |" + " -: |" * len(columns)]
    for name in by_device[devices[0]]:
        cells = [
            f"{error:.1e} | {1000 * seconds:.1f}" for error, seconds in (by_device[device][name] for device in devices)
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def placed(page: str, target: str, text: str) -> str:
    begin, end = f"<!-- begin: make {target} -->\n", f"<!-- end: make {target} -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        raise SystemExit(f"tables.py: expected the lines {begin.strip()} and {end} in {PAGE}, once each")
    before, rest = page.split(begin)
    return f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}"


def main(target: str, *files: str) -> None:
    outputs: dict[str, list[str]] = defaultdict(list)
    for file in files:
        device, path = file.split("=", 1)
        outputs[device] += Path(path).read_text(encoding="utf-8").splitlines()
    by_device = {device: read(lines) for device, lines in outputs.items()}
    if len({tuple(rows) for rows in by_device.values()}) != 1 or not all(by_device.values()):
        raise SystemExit(f"tables.py: expected the same kernels on each device, at least one; got {by_device}")
    PAGE.write_text(placed(PAGE.read_text(encoding="utf-8"), target, table(by_device)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
