"""The tables of docs/evolution.md: what each module does under each host, and what each SDK's `kernpack check` says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rehearsal import tools
from rehearsal.cells import HOSTS, PEER, WORKS, Cell
from rehearsal.modules import Module
from rehearsal.trees import ROOT

PAGE = ROOT / "docs" / "evolution.md"
_BEGIN, _END = "<!-- rehearsal: begin -->\n", "<!-- rehearsal: end -->\n"
_KINDS = {
    "c": "module in C",
    "cxx": "module in C++",
    "cmake": "module built by the CMake package",
    "generated": "module from generated C",
    "backend": "backend",
    "compiler_c": "module of kernpack-compiler (kind c)",
    "compiler_llvm": "module of kernpack-compiler (kind llvm)",
}
_NEWS = {
    "": "",
    "NEWS": ", uses the additions",
    "NEWS+NEEDS": ", needs 1.1",
    "CLAIM": ", sets the spare field",
    "FIELD": ", sets the field at the end",
}


def _row(module: Module) -> str:
    return f"{module.version} {_KINDS[module.language]}{_NEWS[module.news]}"


def _entry(cell: Cell) -> str:
    if cell.expected["load"] != WORKS:
        return "refused at load"
    refused = [f"`{name}`" for name, what in cell.expected.items() if what != WORKS]
    return f"works; refuses {', '.join(refused)}" if refused else WORKS


def _told(sdk: str, module: Module) -> str:
    """The output of `kernpack check`, in short."""
    oldest = tools.oldest_host(sdk, module)
    if oldest is None:
        return "refused"
    if not oldest:
        return "asks for a newer SDK"
    return f"{oldest} and newer" + ("; `rehearse` needs 1.1" if tools.calls_news(module) else "")


def _table(columns: Iterable[str], rows: Mapping[Module, Mapping[str, str]]) -> str:
    names = list(columns)
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    lines += [
        f"| {_row(m)} | " + " | ".join(entries.get(name, "") for name in names) + " |" for m, entries in rows.items()
    ]
    return "".join(f"{line}\n" for line in lines)


def render(cells: Iterable[Cell]) -> str:
    """Of cells that did what they were expected to."""
    under: dict[Module, dict[str, str]] = {}
    beside: dict[Module, dict[str, str]] = {}
    for cell in cells:
        if cell.beside:
            beside.setdefault(cell.module, {})[f"kernpack {cell.beside}"] = _entry(cell)
        else:
            under.setdefault(cell.module, {})[cell.host if cell.host == PEER else f"host {cell.host}"] = _entry(cell)
    check = {module: {f"SDK {sdk}": _told(sdk, module) for sdk in HOSTS} for module in under}
    return "\n".join(
        (
            _table([*(f"host {host}" for host in HOSTS), PEER], under),
            f"Under {PEER}, functions that need devices use those of the kernpack in the same process:\n",
            _table((f"kernpack {host}" for host in HOSTS), beside),
            "The oldest host, as `kernpack check` of each SDK reports it. `kernpack stubs` refuses the same files:\n",
            _table((f"SDK {sdk}" for sdk in HOSTS), check),
        )
    )


def written() -> str:
    """The content of the page."""
    return PAGE.read_text().split(_BEGIN)[1].split(_END)[0]


def write(cells: Iterable[Cell]) -> None:
    before, rest = PAGE.read_text().split(_BEGIN)
    PAGE.write_text(before + _BEGIN + render(cells) + _END + rest.split(_END)[1])
