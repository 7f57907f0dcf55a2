"""scripts/prose: habits are found in pages, comments and docstrings, not in code; budgets only fall; this repository keeps them."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from layer_graph import ROOT


@pytest.fixture(scope="module")
def prose() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("prose", str(ROOT / "scripts" / "prose"))
    spec = importlib.util.spec_from_loader("prose", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def _lines(prose: ModuleType, file: str, source: str) -> list[tuple[int, str]]:
    return [(place.line, place.habit.name) for place in prose.places(file, source)]


@pytest.mark.parametrize(
    ("file", "source", "expected"),
    [
        ("a.md", "# Page\n\nfirst\n\nThe wheels\nare as locked.\n", [(5, "as locked")]),
        ("a.h", "int x;\n// What a call\n// does. What else.\nint y;\n", [(2, "what")]),
        ("a.c", "int x; // Whether it is set.\n// Whether it was.\n", [(1, "whether"), (2, "whether")]),
        ("a.cc", "/* The same, typed.\n * More. */\n", [(1, "the same")]),
        ("a.cu", "// Words.\n\n/// What runs.\n", [(3, "what")]),
        ("a.py", '"""Module."""\n\n\ndef f():\n    """Whether it runs."""\n', [(5, "whether")]),
        ("a.pyi", "x: int  # What it is.\n", [(1, "what")]),
        ("a.cmake", "# What follows\n# is long.\nset(x 1)\n", [(1, "what")]),
        ("a.py", "# A refusal that is no error.\n", [(1, "is no")]),
    ],
)
def test_a_planted_sentence_is_found(
    prose: ModuleType, file: str, source: str, expected: list[tuple[int, str]]
) -> None:
    assert _lines(prose, file, source) == expected


def test_every_habit_has_better_words_and_is_found(prose: ModuleType) -> None:
    planted = [
        "What it does.",
        "Whether it runs.",
        "The same, typed.",
        "Two wheels are as locked.",
        "KP_EXPORT and its kin.",
        "It changes at will.",
        "A backend of one's own.",
        "The call answers in kind.",
        "Four reads where one would do.",
        "A copy arrives as late as it may.",
        "It is said so that nobody errs.",
        "This is no error.",
        "Arguments are what the contract doesn't take.",
        "Twice is for the host to see.",
        "It found what should be mended.",
    ]
    habits = [*prose.OPENINGS, *prose.PHRASES]
    assert len(planted) == len(habits)
    for sentence, habit in zip(planted, habits, strict=True):
        (place,) = prose.places("a.h", f"// {sentence}\n")
        assert place.habit is habit
        assert str(place).startswith("a.h:1: ")
        assert habit.advice in str(place)


@pytest.mark.parametrize(
    ("file", "source"),
    [
        (
            "a.md",
            "# Page\n\n```python\n# This is no error.\n```\n\nUse `at will`. There is no error. It is no longer so.\n",
        ),
        ("a.h", 'const char* x = "// What"; // Returns what it got.\n// Names. What follows.\n'),
        ("a.py", 'x = "# Whether"\ny = "Whether"\n'),
        ("a.md", "What a page says may begin so.\n"),
    ],
)
def test_code_and_plain_sentences_are_left_alone(prose: ModuleType, file: str, source: str) -> None:
    assert _lines(prose, file, source) == []


@pytest.fixture
def project(prose: ModuleType, tmp_path: Path) -> Path:
    """A repository with one folder that has two places and one that has none."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for file, text in {"lib/old/a.h": "// What.\nint x;\n// Whether.\n", "docs/page.md": "Text.\n"}.items():
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_text(text, encoding="utf-8")
    (tmp_path / "scripts").mkdir()
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    assert prose.main(["--write"], tmp_path) == 0
    return tmp_path


def _budgets(project: Path) -> dict[str, int]:
    return json.loads((project / "scripts/prose.json").read_text(encoding="utf-8"))


def test_within_its_budget_a_folder_passes(prose: ModuleType, project: Path, capsys) -> None:
    assert _budgets(project) == {"lib/old": 2}
    assert prose.main(["--check"], project) == 0
    assert capsys.readouterr().out == ""


def test_more_than_the_budget_fails_and_names_the_places(prose: ModuleType, project: Path, capsys) -> None:
    (project / "docs/page.md").write_text("The wheels are as locked.\n", encoding="utf-8")
    assert prose.main(["--check"], project) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("docs/page.md:1: 'The wheels are as locked.'")
    assert said[1:] == ["prose: docs: found 1, allowed 0; rewrite the new ones"]


def test_a_budget_falls_and_never_rises(prose: ModuleType, project: Path, capsys) -> None:
    (project / "lib/old/a.h").write_text("// What.\n", encoding="utf-8")
    assert prose.main(["--check"], project) == 0
    assert "run scripts/prose --write" in capsys.readouterr().out
    assert prose.main(["--write"], project) == 0
    assert _budgets(project) == {"lib/old": 1}
    (project / "lib/old/a.h").write_text("// What.\nint x;\n// What.\n", encoding="utf-8")
    (project / "docs/page.md").write_text("This is no error.\n", encoding="utf-8")
    assert prose.main(["--write"], project) == 0
    assert _budgets(project) == {"lib/old": 1}
    assert prose.main(["--check"], project) == 1


def test_this_repository_keeps_its_budgets(prose: ModuleType, capsys) -> None:
    assert prose.main(["--check"]) == 0, capsys.readouterr().out
    assert not {"docs", "."} & prose.budgets(ROOT).keys(), "pages are clean"
