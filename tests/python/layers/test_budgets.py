"""scripts/budgets: each product file is of one subsystem, CONTRIBUTING.md has their table, and growth is told."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from layer_graph import ROOT

_PRODUCT = re.compile(r"\.(h|hpp|c|cc|cpp|cu|cuh|cl|py|pyi)$")
_FOLDERS = ("ffi", "sdk", "bindings", "kernels")


@pytest.fixture(scope="module")
def budgets() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("budgets", str(ROOT / "scripts" / "budgets"))
    spec = importlib.util.spec_from_loader("budgets", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture
def project(budgets: ModuleType, tmp_path: Path) -> Path:
    """A repository with two subsystems and their table."""
    for path, count in {"a/x.c": 50, "a/in/y.py": 20, "b.h": 10, "test/t.py": 5, "test/in/u.py": 7}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("line\n" * count, encoding="utf-8")
    page = "# Page\n\n## Budgets\n\nText.\n\n| old |\n| -- |\n| row |\n\n## Rules\n\n| another |\n| -- |\n"
    (tmp_path / "CONTRIBUTING.md").write_text(page, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    budgets.main(["--write"], tmp_path, _two(budgets))
    return tmp_path


def _two(budgets: ModuleType) -> tuple[object, object]:
    return (
        budgets.Subsystem("A", "does a", "people", ["a", "b.h"], ["test"]),
        budgets.Subsystem("In", "does more", "A", ["a/in"], ["test/in"]),
    )


def test_each_product_file_is_of_one_subsystem(budgets: ModuleType) -> None:
    """By the innermost path of the list, in which none comes twice."""
    listed = subprocess.run(["git", "ls-files", *_FOLDERS], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [file for file in listed.stdout.splitlines() if _PRODUCT.search(file)]
    known = budgets.owners(budgets.listed())
    assert len(files) > 1000
    assert [file for file in files if (budgets.owner(file, known) or ("", ""))[1] != "product"] == [], (
        "give each a path in scripts/budgets.toml"
    )


def test_each_test_file_is_of_one_subsystem(budgets: ModuleType) -> None:
    known = budgets.owners(budgets.listed())
    files = [file for file in budgets.tracked(ROOT) if file.startswith("tests/")]
    assert [file for file in files if (budgets.owner(file, known) or ("", ""))[1] != "tests"] == []


def test_the_page_has_a_row_for_each_subsystem(budgets: ModuleType) -> None:
    """Figures may lie behind: scripts/lint warns of them."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = budgets.listed()
    current = budgets.table(listed, budgets.lines(ROOT, listed))
    words = [[line.split("|")[:4] for line in text.splitlines()] for text in (budgets.split(page)[1], current)]
    assert words[0] == words[1], "run scripts/budgets --write"


def test_the_table_has_the_lines_of_innermost_paths(project: Path) -> None:
    page = (project / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert page == (
        "# Page\n\n## Budgets\n\nText.\n\n"
        "| subsystem | purpose | who uses it | product lines | test lines |\n| -- | -- | -- | -: | -: |\n"
        "| A | does a | people | 60 | 5 |\n| In | does more | A | 20 | 7 |\n| all |  |  | 80 | 12 |\n"
        "\n## Rules\n\n| another |\n| -- |\n"
    )


@pytest.mark.parametrize(
    ("file", "more", "said"),
    [
        ("a/x.c", 5, None),
        ("a/x.c", 6, "A: 66 product lines, 60 when the table was written"),
        ("test/in/u.py", 1, "In: 8 test lines, 7 when the table was written"),
    ],
)
def test_growth_by_a_tenth_is_a_warning(budgets, project, capsys, file, more, said) -> None:
    with (project / file).open("a", encoding="utf-8") as grown:
        grown.write("line\n" * more)
    budgets.main(["--check"], project, _two(budgets))
    printed = capsys.readouterr().out
    assert printed == f"warning: {said}; shrink it, or run scripts/budgets --write\n" if said else printed == ""
    budgets.main(["--write"], project, _two(budgets))
    budgets.main(["--check"], project, _two(budgets))
    assert capsys.readouterr().out == ""


def test_rows_without_a_subsystem_are_told_and_those_without_a_row(budgets, project, capsys) -> None:
    a, inner = _two(budgets)
    budgets.main(["--check"], project, (a, inner._replace(name="Inner")))
    assert re.findall(r"warning: (.*); run scripts/budgets --write\n", capsys.readouterr().out) == [
        "Inner: has no row",
        "In: has a row, but isn't a subsystem",
    ]


def test_paths_that_arent_there_are_named(budgets: ModuleType, project: Path) -> None:
    gone = budgets.Subsystem("Gone", "", "", ["c/d"], ["test/in", "test/i"])
    with pytest.raises(SystemExit) as refused:
        budgets.main([], project, (gone,))
    assert str(refused.value) == (
        "budgets: 'Gone' names c/d, where git has no source file; correct scripts/budgets.toml\n"
        "budgets: 'Gone' names test/i, where git has no source file; correct scripts/budgets.toml"
    )


def test_a_path_of_two_subsystems_is_named(budgets: ModuleType) -> None:
    a, _ = _two(budgets)
    with pytest.raises(SystemExit, match="a is given to both 'A' and 'B'"):
        budgets.owners((a, a._replace(name="B")))


def test_a_page_without_a_table_is_refused(budgets: ModuleType, project: Path) -> None:
    (project / "CONTRIBUTING.md").write_text("## Budgets\n\n## Rules\n\n| a |\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"expected a table below '## Budgets'"):
        budgets.main(["--write"], project, _two(budgets))
