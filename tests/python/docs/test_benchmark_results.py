"""docs/benchmarks.md and its pictures are what tests/bench/publish.py makes of docs/benchmarks.json and benchmarks_llm.json."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
TEXT = re.compile(r"<text[^>]*>([^<]*)<")


def test_the_page_shows_the_committed_result(tmp_path: Path) -> None:
    """Of pictures the texts are compared: each version of matplotlib places them in its own way."""
    shutil.copy(DOCS / "benchmarks.md", tmp_path)
    for result in ("benchmarks.json", "benchmarks_llm.json"):
        command = [sys.executable, ROOT / "tests/bench/publish.py", DOCS / result, "--docs", tmp_path]
        subprocess.run(command, check=True, capture_output=True)
        assert (tmp_path / result).read_text() == (DOCS / result).read_text()
    assert _paragraphs(tmp_path / "benchmarks.md") == _paragraphs(DOCS / "benchmarks.md")
    drawn = {file.name: TEXT.findall(file.read_text()) for file in tmp_path.glob("*.svg")}
    assert drawn == {file.name: TEXT.findall(file.read_text()) for file in DOCS.glob("bench_*.svg")}
    assert "our time / the peer's; tick: the goal" in drawn["bench_arrays.svg"]


def test_a_page_without_a_place_for_them_is_refused(tmp_path: Path) -> None:
    (tmp_path / "benchmarks.md").write_text("# Benchmarks\n")
    command = [sys.executable, ROOT / "tests/bench/publish.py", DOCS / "benchmarks.json", "--docs", tmp_path]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "benchmarks.md: expected the lines <!-- begin: tests/bench/publish.py -->" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["benchmarks.md"]


def _paragraphs(page: Path) -> list[str]:
    """Without the line breaks that mdformat chooses."""
    return [" ".join(part.split()) for part in page.read_text().split("\n\n")]
