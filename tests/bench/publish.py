"""Puts a result of `make bench` or of `make bench-llm` into the manual: its JSON, a picture per topic, and its part of
docs/benchmarks.md.

python tests/bench/publish.py build/bench/bench.json [--docs FOLDER]
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from pathlib import Path
from typing import Any

import report

DOCS = Path(__file__).resolve().parents[2] / "docs"
LLM = "llm"  # how the topics of `make bench-llm` begin


def publish(result: Path, docs: Path) -> list[Path]:
    """The pictures that were drawn. ValueError where the page has no place for them."""
    found = json.loads(result.read_text(encoding="utf-8"))
    rows = [report.row_of(row) for row in found["rows"]]
    llm = all(row.topic.startswith(LLM) for row in rows)
    marked = f"tests/bench/publish.py{', make bench-llm' if llm else ''}"
    begin, end = f"<!-- begin: {marked} -->", f"<!-- end: {marked} -->"
    page = docs / "benchmarks.md"
    text = page.read_text(encoding="utf-8")
    if not re.search(f"{begin}.*{end}", text, re.DOTALL):
        raise ValueError(f"{page}: expected the lines {begin} and {end}")
    for old in docs.glob("bench_*.svg"):
        if old.name.startswith(f"bench_{LLM}") == llm:
            old.unlink()
    pictures = report.write_plots(docs, rows, "bench_{}.svg")
    shown = [_shown(picture, rows) for picture in pictures]
    section = "\n\n".join([begin, _conditions(found["machine"]), *shown, end])
    page.write_text(re.sub(f"{begin}.*{end}", lambda _: section, text, flags=re.DOTALL), encoding="utf-8")
    kept = docs / ("benchmarks_llm.json" if llm else "benchmarks.json")
    kept.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return pictures


def _conditions(machine: dict[str, Any]) -> str:
    """Where and when, in a sentence of short lines."""
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items() if version)
    return (
        f"Measured on {machine['date']} with Python {machine['python']}, {packages}.\n"
        f"Processor: {machine['cpu']}, {machine['cores']} cores ({', '.join(machine['instruction_sets'])}).\n"
        f"Load average at the end: {machine['load']:.1f}."
    )


def _shown(picture: Path, rows: list[report.Row]) -> str:
    """The picture, and in words what it shows."""
    topic = picture.stem.removeprefix("bench_").replace("_", " ")
    ratios = [row.ratio for row in rows if row.topic == topic and row.ratio is not None]
    text = f"{topic}: values in their units"
    if ratios:
        middle = statistics.median(ratios)
        text = f"{topic}: ours / theirs from {min(ratios):.2f} to {max(ratios):.2f}, median {middle:.2f}"
    return f"![{text}]({picture.name})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result", type=Path)
    parser.add_argument("--docs", type=Path, default=DOCS)
    options = parser.parse_args()
    try:
        pictures = publish(options.result, options.docs)
    except ValueError as error:
        sys.exit(f"publish.py: {error}")
    for picture in pictures:
        print(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
