"""Puts a result of `make bench` or of `make bench-llm` into the manual: its JSON, a picture and a table per topic, and its parts of
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

import figures
import headline
import pictures
import report

DOCS = Path(__file__).resolve().parents[2] / "docs"
LLM = "llm"  # how the topics of `make bench-llm` begin
TITLES = {
    "scalars": "Calls with numbers",
    "arrays": "Calls with NumPy arrays",
    "torch": "Calls with torch tensors",
    "torch ops": "PyTorch operators",
    "errors": "Errors raised in C++",
    "building": "Compiling a module",
    "loading": "Loading a module",
    "jax": "JAX",
    "checking": "The checking mode",
    "profile": "Profiles",
    "devices": "Workspaces and copies",
    "opencl": "OpenCL",
    "kernels": "Kernels of the wheel",
    "codegen": "Generated kernels",
    "matmul": "Generated matrix products",
}
# The packages whose versions stand under a picture, by what the names of its peers contain.
_PACKAGES = {
    "apache-tvm-ffi": "apache-tvm-ffi",
    "jax-tvm-ffi": "jax-tvm-ffi",
    "pybind11": "pybind11",
    "nanobind": "nanobind",
    "torch": "torch",
    "TORCH_LIBRARY": "torch",
    "autograd": "torch",
    "transformers": "torch",
    "ffi_call": "jax",
    "NumPy": "numpy",
}


def publish(result: Path, docs: Path) -> list[Path]:
    """The pictures that were drawn. ValueError where the page has no place for them."""
    found = json.loads(result.read_text(encoding="utf-8"))
    rows = [report.make_row(row) for row in found["rows"]]
    machine = found["machine"]
    llm = all(row.topic.startswith(LLM) for row in rows)
    page = docs / "benchmarks.md"
    text = page.read_text(encoding="utf-8")
    marks = ["tests/bench/publish.py, make bench-llm"] if llm else ["tests/bench/publish.py", "tests/bench/headline.py"]
    for marked in marks:
        if not re.search(f"{_begin(marked)}.*{_end(marked)}", text, re.DOTALL):
            raise ValueError(f"{page}: expected the lines {_begin(marked)} and {_end(marked)}")
    for old in docs.glob("bench_*.svg"):
        if old.name.startswith(f"bench_{LLM}") == llm:
            old.unlink()
    made = pictures.write_plots(docs, rows, "bench_{}.svg")
    parts = [_part(picture, rows, machine, "####" if llm else "###") for picture in made]
    text = _filled(text, marks[0], [_conditions(machine), *parts])
    if not llm:
        made.append(headline.draw(docs, rows))
        top = f"![{headline.alt(rows)}]({headline.NAME})"
        about = _versions(machine, [row for found in headline.compared(rows).values() for row in found])
        text = _filled(text, marks[1], [headline.sentence(rows), top, about])
    page.write_text(text, encoding="utf-8")
    kept = docs / ("benchmarks_llm.json" if llm else "benchmarks.json")
    kept.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return made


def _begin(marked: str) -> str:
    return f"<!-- begin: {marked} -->"


def _end(marked: str) -> str:
    return f"<!-- end: {marked} -->"


def _filled(text: str, marked: str, parts: list[str]) -> str:
    section = "\n\n".join([_begin(marked), *parts, _end(marked)])
    return re.sub(f"{_begin(marked)}.*{_end(marked)}", lambda _: section, text, flags=re.DOTALL)


def _conditions(machine: dict[str, Any]) -> str:
    """Where and when, in a sentence of short lines."""
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items() if version)
    return (
        f"Measured on {machine['date']} with Python {machine['python']}, {packages}.\n"
        f"Processor: {machine['cpu']}, {machine['cores']} cores ({', '.join(machine['instruction_sets'])}).\n"
        f"Load average at the end: {machine['load']:.1f}."
    )


def _versions(machine: dict[str, Any], rows: list[report.Row]) -> str:
    """The date, and the versions of the packages that rows are compared with."""
    peers = " ".join(row.peer for row in rows if row.ratio is not None)
    used = dict.fromkeys(package for text, package in _PACKAGES.items() if text in peers)
    return ", ".join([machine["date"], *(f"{name} {machine['packages'][name]}" for name in used)]) + "."


def _part(picture: Path, rows: list[report.Row], machine: dict[str, Any], level: str) -> str:
    """A topic: its picture, when and beside what it was measured, and its figures."""
    topic = picture.stem.removeprefix("bench_").replace("_", " ")
    of_topic = [row for row in rows if row.topic == topic]
    title = TITLES.get(topic, topic.removeprefix(f"{LLM} ").capitalize())
    table = [
        "<details>",
        f"<summary>{title}: the figures in a table</summary>",
        "",
        *_table(of_topic),
        "",
        "</details>",
    ]
    parts = [f"{level} {title}", f"![{_in_words(topic, of_topic)}]({picture.name})", _versions(machine, of_topic)]
    return "\n\n".join([*parts, "\n".join(table)])


def _table(rows: list[report.Row]) -> list[str]:
    lines = ["| measured | Kernpack | beside | peer | ratio | goal |", "| -- | -: | -: | -- | -: | -: |"]
    for row in rows:
        name = f"{row.name} ({row.note})" if row.note else row.name
        ratio = "" if row.ratio is None else figures.three_digits(row.ratio)
        goal = "" if row.goal is None else figures.three_digits(row.goal)
        cells = [name, figures.amount(row.ours, row.unit)]
        cells += [figures.amount(row.theirs, row.unit), row.peer] if row.ratio is not None else ["", ""]
        lines.append(f"| {' | '.join([*cells, ratio, goal])} |")
    return lines


def _in_words(topic: str, rows: list[report.Row]) -> str:
    """The description of a topic's picture."""
    beside = [row.ratio for row in rows if row.ratio is not None and figures.beside_a_peer(row)]
    if beside:
        low, middle, high = map(figures.three_digits, (min(beside), statistics.median(beside), max(beside)))
        return f"{topic}: ours / theirs from {low} to {high}, median {middle}"
    factors = [row.ratio for row in rows if row.ratio is not None]
    if factors:
        low, high = figures.three_digits(min(factors)), figures.three_digits(max(factors))
        return f"{topic}: {figures.axis(rows[0])}, factors from {low} to {high}"
    return f"{topic}: values in their units"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result", type=Path)
    parser.add_argument("--docs", type=Path, default=DOCS)
    options = parser.parse_args()
    try:
        made = publish(options.result, options.docs)
    except ValueError as error:
        sys.exit(f"publish.py: {error}")
    for picture in made:
        print(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
