"""A covering subset of `make rehearsal`: today's host and SDK meet modules of 1.1 and 2.0, and a host of 1.1 meets today's modules."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from rehearsal import cells, environments, modules, table, tools, trees


def python_path_of_this_host() -> str:
    import kernpack

    return str(Path(kernpack.__file__).parents[1])


def covering() -> list[cells.Cell]:
    """Without a host of 2.0, and with a host of 1.1 only where an older module meets it or one that sets a new field. Without what
    takes long to build: a compiler of 1.1, and modules by the CMake package, which tests/abi/package builds."""
    return [
        cell
        for cell in cells.all_cells()
        if (
            cell.host in ("1.0", cells.PEER)
            or (cell.host == "1.1" and (cell.module.version == "1.0" or cell.module.news in ("FIELD", "NEWS")))
        )
        and cell.beside != "2.0"
        and cell.module.language != "cmake"
        and not (cell.module.from_compiler and cell.module.version == cells.COMPILER)
    ]


# One test, so that parallel workers do not build the same host twice.
def test_a_covering_subset_of_cells() -> None:
    folder = trees.ROOT / "build" / "rehearsal"
    made = {version: trees.make(version, folder) for version in cells.HOSTS}
    hosts = {"1.0": python_path_of_this_host(), "1.1": str(trees.build_host(made["1.1"], folder))}
    wanted = covering()
    needed = list(dict.fromkeys(cell.module for cell in wanted))
    with ThreadPoolExecutor(2) as pool:
        built = list(pool.map(lambda m: modules.build(m, made[m.version], folder / "modules"), needed))
        files = dict(zip(needed, built, strict=True))
        ran = list(pool.map(lambda cell: cells.run(cell, files, hosts), wanted))
        by_tools = list(pool.map(lambda version: tools.run(made[version], files), ("1.0", "2.0")))
    assert [line for one in ran for line in one.wrong] == []
    assert len({cell.module.language for cell in wanted}) == 6
    assert [line for _, wrong in by_tools for line in wrong] == []
    tried, wrong = environments.run(folder / "mixed-subset", hosts, {version: made[version] for version in hosts})
    assert (tried, wrong) == (8, [])


def test_a_cell_that_dies_is_seen(tmp_path: Path) -> None:
    script = tmp_path / "dies.py"
    script.write_text("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)\n")
    outcome, crash = cells.run_child([], "", str(script))
    assert (outcome, crash.split(":")[0]) == ({}, "the process died of signal 11")


def test_the_page_has_the_table_of_the_rehearsal() -> None:
    assert table.written() == table.render(cells.all_cells()), "run `make rehearsal`"


@pytest.mark.parametrize("host", cells.HOSTS)
def test_pip_allows_what_works(host: str) -> None:
    """A kernel wheel of today is allowed beside a host that runs its modules; the compiler beside its own version."""
    today = [cell for cell in cells.all_cells() if cell.module.version == "1.0" and cell.host == host]
    works = all(cell.expected["load"] == cells.WORKS for cell in today)
    assert environments.allowed_by_pip("kernpack-kernels", host) is works
    assert environments.allowed_by_pip("kernpack-compiler", host) is (host == "1.0")
