"""The pages of docs/ that the site is made of: the catalogue of ops, the navigation, pictures and lines of code."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs/site"))
import answers
import op_formulas
import ops
import stage

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
_DOC = re.compile(r"^(?:KP_DOC|  X)\(\s*(\w+),", re.MULTILINE)  # of a file, and of a row for each op
_PICTURE = re.compile(r"!\[([^\]]*)\]\(")


def _catalogue() -> dict[str, str]:
    """By op, the family above its line."""
    text = (DOCS / "kernels.md").read_text(encoding="utf-8").partition("## Catalogue")[2].partition("\n## ")[0]
    families = {}
    for part in text.split("\n### ")[1:]:
        family, _, lines = part.partition("\n")
        families |= dict.fromkeys(re.findall(r"^- `(\w+)`: \S", lines, re.MULTILINE), family)
    return families


def test_the_catalogue_has_a_line_for_each_op() -> None:
    assert sorted(_catalogue()) == sorted(ops.EXAMPLES)


def test_an_op_stands_in_the_family_whose_folder_has_its_code() -> None:
    folders = {
        name: file.relative_to(ROOT / "kernels").parts[0].replace("_", "-")
        for file in [*(ROOT / "kernels").glob("*/cpu/*_op.cc"), *(ROOT / "kernels").glob("*/row_activations.h")]
        for name in _DOC.findall(file.read_text(encoding="utf-8"))
    }
    assert {name: family.lower() for name, family in _catalogue().items()} == folders


def test_a_line_of_the_catalogue_leads_to_the_page_of_its_op() -> None:
    assert stage.linked("- `gelu`: GELU\n- `other`: no page\n", ["gelu"]) == (
        "- [`gelu`](ops/gelu.md): GELU\n- `other`: no page\n"
    )


def test_the_first_page_is_divided_into_parts() -> None:
    first, doors = stage.sections("# A\n\n## Start\n\ntext\n\n## One\n\n| page |\n| -- |\n| [B](b.md) | b |\n")
    assert first == "# A\n\n## Start\n\ntext\n\n"
    assert doors == {"One": "| page |\n| -- |\n| [B](b.md) | b |"}


def test_every_page_is_in_one_section_of_the_first_page() -> None:
    _, doors = stage.sections((DOCS / "index.md").read_text(encoding="utf-8"))
    linked = [page for text in doors.values() for page in stage._LINK.findall(text)]
    assert sorted(linked) == sorted(file.stem for file in PAGES if file.stem != "index")
    assert len(doors) - 1 + len(stage._LINK.findall(doors[stage.COMMON])) + 2 <= 12  # and two parts of the reference


def test_a_door_leads_to_its_part() -> None:
    first, doors = stage.sections((DOCS / "index.md").read_text(encoding="utf-8"))
    for title in doors.keys() - {stage.COMMON}:
        assert f"(#{stage.slug(title)})" in first


def test_each_word_leads_to_one_page() -> None:
    words = [word for page in answers.by_page(list(ops.EXAMPLES)).values() for word in page]
    assert len(words) == len(set(words)) >= 25
    assert all(word == word.lower() for word in words)
    assert {"install", "pip install", "gradient", "cuda", "how fast"} <= set(words)
    assert answers.first_pages(["gelu", "embedding"])["gelu"] == "ops/gelu"
    assert all((DOCS / f"{page}.md").is_file() for page in answers.ANSWERS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_fits_its_column(page: Path) -> None:
    """Code has lines of up to 90 columns (output is broken into lines), and pictures have a text in their place."""
    language = None
    wide = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if fence := re.match(r"```(\w*)", line):
            language = None if language is not None else fence[1]
        elif language not in (None, "", "text") and len(line) > 90:
            wide.append(f"{page.name}:{number}: {len(line)} columns")
    assert wide == []
    assert all(text.strip() for text in _PICTURE.findall(page.read_text(encoding="utf-8")))


def test_the_glossary_is_in_order() -> None:
    rows = re.findall(r"^\| ([^|]+?) \|", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)[2:]
    assert len(rows) > 30
    assert rows == sorted(rows, key=str.lower)


@pytest.mark.parametrize(
    ("contract", "shown"),
    [
        ("f(x: T[..., N], mask: M[~..., N]? = None) -> (probs: T[..., N])", "probs = k.f(x, mask=None)"),
        (
            "f(x!: f32[N], *, mode: str in {'a', 'b'} = \"a\", eps: float = 1e-5) -> () where N > 0",
            'k.f(x, *, mode="a", eps=1e-5)',
        ),
        ("f(x: f32[N, M]) -> (y: f32[N], saved: f32[N] aux, z: f32[])", "y, z = k.f(x)"),
    ],
)
def test_a_call_is_read_from_the_contract(contract: str, shown: str) -> None:
    assert ops.call(contract) == shown


def test_each_op_has_a_formula_or_is_known_to_have_none() -> None:
    assert sorted([*op_formulas.FORMULAS, *op_formulas.NONE]) == sorted(ops.EXAMPLES)
    assert all(len(line) <= 90 for formula in op_formulas.FORMULAS.values() for line in formula.splitlines())
