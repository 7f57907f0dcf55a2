"""The table of docs/evolution.md: what each module does under each host."""

from __future__ import annotations

from collections.abc import Iterable

from rehearsal.cells import HOSTS, PEER, WORKS, Cell
from rehearsal.modules import Module
from rehearsal.trees import ROOT

PAGE = ROOT / "docs" / "evolution.md"
_BEGIN, _END = "<!-- rehearsal: begin -->\n", "<!-- rehearsal: end -->\n"
_LANGUAGES = {"c": "C", "cxx": "C++", "generated": "generated", "backend": "backend"}
_NEWS = {
    "": "",
    "NEWS": ", uses the news",
    "NEWS+NEEDS": ", needs 1.1",
    "CLAIM": ", sets the claimed field",
    "FIELD": ", sets the field at the end",
}


def _row(module: Module) -> str:
    kind = "backend" if module.language == "backend" else f"module in {_LANGUAGES[module.language]}"
    if module.language == "generated":
        kind = "generated module"
    return f"{module.version} {kind}{_NEWS[module.news]}"


def _entry(cell: Cell) -> str:
    if cell.expected["load"] != WORKS:
        return "refused at load"
    refused = [f"`{name}`" for name, what in cell.expected.items() if what != WORKS]
    return f"works; refuses {', '.join(refused)}" if refused else WORKS


def render(cells: Iterable[Cell]) -> str:
    """Of cells that did what they were expected to."""
    rows: dict[Module, dict[str, str]] = {}
    for cell in cells:
        rows.setdefault(cell.module, {})[cell.host] = _entry(cell)
    lines = ["| | " + " | ".join(f"host {host}" for host in HOSTS) + f" | {PEER} |", "|---" * (len(HOSTS) + 2) + "|"]
    for module, entries in rows.items():
        lines.append(f"| {_row(module)} | " + " | ".join(entries.get(host, "") for host in (*HOSTS, PEER)) + " |")
    return "".join(f"{line}\n" for line in lines)


def written() -> str:
    """What the page has."""
    return PAGE.read_text().split(_BEGIN)[1].split(_END)[0]


def write(cells: Iterable[Cell]) -> None:
    before, rest = PAGE.read_text().split(_BEGIN)
    PAGE.write_text(before + _BEGIN + render(cells) + _END + rest.split(_END)[1])
