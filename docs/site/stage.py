"""Lays out what the site is made of: `stage.py <folder>` writes pages to <folder>/source and headers to <folder>/headers.

The pages of docs/ go in as they are, but for the first page. Its section COMMON lists the pages that stand in the navigation by
themselves. Each other section with a table becomes a part: a page of its own, under which the pages of its table stand. A page that no
section leads to makes Sphinx fail."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import answers
import ops
import reference

DOCS = Path(__file__).resolve().parents[1]
COMMON = "For everyone"
KERNELS = "kernels"  # the page with the catalogue of ops
_LINK = re.compile(r"^\| \[[^\]]+\]\(([\w/-]+)\.md\)", re.MULTILINE)
_COMMENT = re.compile(
    r"^<!--[^\n]*-->\n", re.MULTILINE
)  # for the tests; in front of one, an index entry would have no place
_OP = re.compile(r"^- `(\w+)`(?=: )", re.MULTILINE)


def toctree(pages: list[str]) -> str:
    return "\n".join(["```{toctree}", ":hidden:", "", *pages, "```", ""])


def sections(index: str) -> tuple[str, dict[str, str]]:
    """The first page up to its sections with tables of pages, and the text of each of these by title."""
    first, *rest = re.split(r"^## ", index, flags=re.MULTILINE)
    doors = {}
    for section in rest:
        title, _, text = section.partition("\n")
        if _LINK.search(text):
            doors[title.strip()] = text.strip()
        else:
            first += f"## {section}"
    return first, doors


def slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def linked(catalogue: str, names: list[str]) -> str:
    """The catalogue, where each op that has a page leads to it. Where docs/ is read without the site there are no such pages, so the
    links aren't in the file."""
    return _OP.sub(lambda op: f"- [`{op[1]}`](ops/{op[1]}.md)" if op[1] in names else op[0], catalogue)


def _write(page: Path, text: str, children: list[str]) -> None:
    parts = [text.rstrip(), "", toctree(children)] if children else [text.rstrip(), ""]
    page.write_text("\n".join(parts), encoding="utf-8")


def stage(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in [*DOCS.glob("*.md"), *DOCS.glob("*.svg")]:
        shutil.copy(file, folder)
    first, doors = sections((DOCS / "index.md").read_text(encoding="utf-8"))
    common = doors.pop(COMMON)
    for title, text in doors.items():
        first = first.replace(f"(#{slug(title)})", f"({slug(title)}.md)")
        _write(folder / f"{slug(title)}.md", f"# {title}\n\n{text}", _LINK.findall(text))
    written = ops.write(folder / "ops")
    if not written:
        print(
            "left out: the pages of the ops, because the wheel kernpack-kernels isn't installed (make wheels builds it)"
        )
    catalogue = folder / f"{KERNELS}.md"
    _write(
        catalogue, linked(catalogue.read_text(encoding="utf-8"), written), [f"ops/{name}" for name in sorted(written)]
    )
    references = []
    for title, about, pages in reference.write(folder / "reference"):
        if pages:
            _write(folder / f"{slug(title)}.md", f"# {title}\n\n{about}", [f"reference/{page}" for page in pages])
            references.append(slug(title))
    top = [*map(slug, doors), *_LINK.findall(common), *references]
    _write(folder / "index.md", f"{first.rstrip()}\n\n## {COMMON}\n\n{common}", top)
    for name, words in answers.by_page(written).items():
        page = folder / f"{name}.md"
        title, _, text = page.read_text(encoding="utf-8").partition("\n")
        page.write_text(f"{title}\n\n{answers.entries(words)}{_COMMENT.sub('', text)}", encoding="utf-8")


if __name__ == "__main__":
    stage(Path(sys.argv[1]) / "source")
    shutil.rmtree(Path(sys.argv[1]) / "headers", ignore_errors=True)
    reference.convert(Path(sys.argv[1]) / "headers")
