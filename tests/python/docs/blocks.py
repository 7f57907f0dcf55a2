"""The fenced code blocks of the manual and of the other pages that a reader follows."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RUNNABLE = ("python", "cpp", "c", "bash", "toml", "json")
TEXT = ("", "text", "ebnf")  # shown, not code
_NO_RUN = re.compile(r"<!--\s*no-run:\s*(\S.*?)\s*-->")


@dataclasses.dataclass(frozen=True)
class Block:
    page: str  # relative to the repository
    line: int  # of the opening fence
    language: str
    text: str
    no_run: str | None  # the reason in `<!-- no-run: reason -->` on the line above

    @property
    def folder(self) -> Path | None:
        """The example that the page belongs to: its blocks run in a copy of it, one after the other."""
        return ROOT / Path(self.page).parent if self.page.startswith("examples/") else None

    @property
    def runs(self) -> bool:
        return self.no_run is None and self.language in RUNNABLE

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def read_blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    lines = page.read_text(encoding="utf-8").splitlines()
    start = -1
    for i, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if start < 0:
            start = i
            continue
        above = next((text for text in reversed(lines[:start]) if text.strip()), "")
        reason = _NO_RUN.search(above)
        language = lines[start][3:].strip()
        text = "\n".join(lines[start + 1 : i]) + "\n"
        found.append(Block(str(page.relative_to(ROOT)), start + 1, language, text, reason[1] if reason else None))
        start = -1
    if start >= 0:
        raise ValueError(f"{page}:{start + 1}: the code block is never closed")
    return found


def all_blocks() -> list[Block]:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    pages += sorted((ROOT / "examples").glob("*/README.md"))
    pages += [
        ROOT / project / "README.md" for project in ("bindings/python", "bindings/compiler", "kernels", "sdk/author")
    ]
    return [block for page in pages for block in read_blocks(page)]
