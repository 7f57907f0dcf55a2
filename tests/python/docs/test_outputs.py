"""Where a page shows a program and then `prints` and a text, that program alone prints that text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from blocks import ROOT, Block, all_blocks

PAIRS: list[tuple[Block, str]] = []
for program, shown in zip(blocks := all_blocks(), blocks[1:], strict=False):
    if program.runs and program.language == "python" and shown.language == "text" and program.page == shown.page:
        lines = (ROOT / program.page).read_text(encoding="utf-8").splitlines()
        between = [line for line in lines[program.line + program.text.count("\n") + 1 : shown.line - 1] if line]
        if between == ["prints"]:
            PAIRS.append((program, shown.text))


def test_the_pages_that_show_output_are_found() -> None:
    assert {block.page for block, _ in PAIRS} >= {"README.md", "docs/gallery.md"}


@pytest.mark.parametrize(("program", "printed"), PAIRS, ids=[str(program) for program, _ in PAIRS])
def test_a_program_prints_what_its_page_shows(program: Block, printed: str, tmp_path: Path) -> None:
    if "kernpack_compiler" in program.text:
        pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
    script = tmp_path / "page.py"
    script.write_text(program.text)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed
