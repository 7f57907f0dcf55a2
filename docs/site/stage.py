"""Lays out what the site is made of: `stage.py <folder>` writes pages to <folder>/source and headers to <folder>/headers.

The pages of docs/ go in as they are. The first page's sections are the doors of the site: the pages that a section's table links
to become that section's part of the navigation. A page that no door leads to makes Sphinx fail."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import ops
import reference

DOCS = Path(__file__).resolve().parents[1]
_LINK = re.compile(r"^\| \[[^\]]+\]\(([\w/-]+)\.md\)", re.MULTILINE)


def toctree(caption: str, pages: list[str]) -> str:
    lines = ["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""]
    return "\n".join(lines)


def doors(index: str) -> list[tuple[str, list[str]]]:
    """The title of each section of the first page, and the pages that its table links to."""
    sections = re.split(r"^## ", index, flags=re.MULTILINE)[1:]
    return [(section.partition("\n")[0].strip(), _LINK.findall(section)) for section in sections]


def stage(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in [*DOCS.glob("*.md"), *DOCS.glob("*.svg")]:
        shutil.copy(file, folder)
    trees = [toctree(title, pages) for title, pages in doors((DOCS / "index.md").read_text(encoding="utf-8"))]
    written = ops.write(folder / "ops")
    if written:
        trees.append(toctree("The kernel wheel, op by op", [f"ops/{name}" for name in written]))
    else:
        print(
            "left out: the pages of the ops, because the wheel kernpack-kernels isn't installed (make wheels builds it)"
        )
    for title, pages in reference.write(folder / "reference"):
        trees.append(toctree(title, [f"reference/{page}" for page in pages]))
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        index.write("\n" + "\n".join(trees))


if __name__ == "__main__":
    stage(Path(sys.argv[1]) / "source")
    shutil.rmtree(Path(sys.argv[1]) / "headers", ignore_errors=True)
    reference.convert(Path(sys.argv[1]) / "headers")
