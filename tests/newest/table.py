"""The table of docs/versions.md that `make newest` writes, from what scripts/newest left in build/newest.

    python tests/newest/table.py build/newest [--print: writes nothing]

<python>.json and <python>-pinned.json are of figures.py, <python>-on.xml and <python>-off.xml pytest's, with hooks and without.
Exits with 1 if a test failed, or a hook is off.
"""

from __future__ import annotations

import datetime
import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs/versions.md"
BEGIN, END = "<!-- newest: begin -->\n\n", "\n<!-- newest: end -->\n"
TIMES = ("NumPy", "torch", "torch, forward and backward", "JAX")
HEADINGS = (
    "date",
    "CPython",
    "torch",
    "JAX",
    "NumPy",
    "apache-tvm-ffi",
    "tests with hooks; without",
    "hooks off",
    *(f"{name}, µs" for name in TIMES),
)


def _tests(file: Path) -> str:
    """ "1200 passed", "3 of 1200 failed"; what is skipped isn't counted."""
    suites = list(ET.parse(file).getroot().iter("testsuite"))
    total, skipped, failed = (
        sum(int(suite.get(name, 0)) for suite in suites for name in names)
        for names in (("tests",), ("skipped",), ("failures", "errors"))
    )
    ran = total - skipped
    return f"{failed} of {ran} failed" if failed or not ran else f"{ran} passed"


def row(folder: Path, python: str, date: str) -> list[str]:
    found = json.loads((folder / f"{python}.json").read_text())
    pinned = json.loads((folder / f"{python}-pinned.json").read_text())
    tests = [_tests(folder / f"{python}-{hooks}.xml") for hooks in ("on", "off")]
    off = [f"`{name}`" for name, state in found["hooks"].items() if state != "on"]

    def times(of: dict[str, Any], name: str) -> str:
        value = of["microseconds"][name]
        return f"{value:.{1 if value >= 10 else 2}f}"

    figures = [f"{times(found, name)} ({times(pinned, name)})" for name in TIMES]
    # Two cells would make the table wider than its page.
    return [date, python, *found["versions"].values(), "; ".join(tests), ", ".join(off) or "none", *figures]


def make_rows(page: str) -> list[list[str]]:
    """The rows of the table, without its headings."""
    table = page.partition(BEGIN)[2].partition(END)[0]
    return [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines()[2:]]


def written(page: str, rows: list[list[str]]) -> str:
    """The page with these rows. Rows of other Pythons stay."""
    fresh = {row[1]: row for row in [*make_rows(page), *rows]}
    lines = [HEADINGS, ["--"] * len(HEADINGS), *(fresh[python] for python in sorted(fresh, key=_number))]
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + "".join(f"| {' | '.join(line)} |\n" for line in lines) + END + rest.partition(END)[2]


def _number(python: str) -> tuple[int, ...]:
    return tuple(map(int, python.split(".")))


def main() -> int:
    folder = Path(sys.argv[1])
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    pythons = sorted((file.stem for file in folder.glob("3.*[0-9].json")), key=_number)
    rows = [row(folder, python, date) for python in pythons]
    if "--print" not in sys.argv:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    for cells in rows:
        print(*(f"{name}: {cell}" for name, cell in zip(HEADINGS, cells, strict=True)), sep="\n", end="\n\n")
    bad = [cells[1] for cells in rows if "failed" in cells[6] or cells[7] != "none"]
    if not rows:
        print(f"newest: {folder} has no results: no environment could be made, or no times measured")
    if bad:
        print(f"newest: tests failed or hooks are off with Python {', '.join(bad)}; build/newest has pytest's reports")
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
