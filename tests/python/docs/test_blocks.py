"""Every code block of the manual, README.md and the examples does what it shows, or says above it why it is not run.

`$KERNPACK` in an example's commands is where Kernpack was installed with `cmake --install`: build/install here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from blocks import ROOT, RUNNABLE, TEXT, Block, all_blocks
from kernpack_sdk import check, flags
from support import gallery

BLOCKS = all_blocks()


def _run(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment["KERNPACK"] = str(ROOT / "build/install")
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def _compile(block: Block, folder: Path) -> None:
    """A module is linked and checked; anything else is compiled."""
    language = {"cpp": "c++", "c": "c"}[block.language]
    source = folder / f"block.{block.language}"
    source.write_text(block.text)
    compiler = {"c++": "g++", "c": "gcc"}[language]
    options = [*flags.compile_flags(language), "-O1", "-Wall", "-Werror"]
    if "kp_module_v1" in block.text or "KP_MODULE(" in block.text:
        module = folder / "block.so"
        _run([compiler, *options, str(source), *flags.link_flags(), "-o", str(module)], folder)
        assert check.check(module) == []
    else:
        _run([compiler, *options, "-c", str(source), "-o", str(folder / "block.o")], folder)


def test_every_block_runs_or_says_why_not() -> None:
    unexplained = [str(b) for b in BLOCKS if b.no_run is None and b.language not in (*RUNNABLE, *TEXT)]
    assert unexplained == [], "add `<!-- no-run: reason -->` above the block, or make it run"
    shown = [b for b in BLOCKS if not b.runs]
    print(f"\n{len(BLOCKS) - len(shown)} blocks run, {len(shown)} shown only:")
    for block in shown:
        print(f"  {block}: {block.no_run or 'plain text'}")


RUN = [b for b in BLOCKS if b.runs]
EXAMPLES = sorted({b.page for b in RUN if b.folder is not None})
PROGRAMS = sorted({b.page for b in RUN if b.folder is None and b.language == "python"})
ALONE = [b for b in RUN if b.page not in EXAMPLES and b.language != "python"]


def _of(page: str, language: str | None = None) -> list[Block]:
    return [b for b in RUN if b.page == page and language in (None, b.language)]


def test_every_block_is_run_once() -> None:
    run = [*ALONE, *(b for page in EXAMPLES for b in _of(page)), *(b for page in PROGRAMS for b in _of(page, "python"))]
    assert sorted(map(str, run)) == sorted(map(str, RUN))


@pytest.mark.parametrize("page", PROGRAMS)
def test_python_of_a_page(page: str, tmp_path: Path) -> None:
    """A reader types a page's Python from top to bottom: one program, whose lines are numbered as the page's."""
    lines: list[str] = []
    for block in _of(page, "python"):
        lines += [""] * (block.line - len(lines)) + block.text.splitlines()
    program = "\n".join(lines) + "\n"
    if "kernpack_compiler" in program:
        pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
    script = tmp_path / "page.py"
    script.write_text(program)
    _run([sys.executable, script.name], tmp_path)


@pytest.mark.parametrize("page", EXAMPLES)
def test_page_of_an_example(page: str, tmp_path: Path) -> None:
    """Its commands and programs, one after the other, in a copy of the example. What they build with CMake passes its tests and
    prints what the gallery shows."""
    shutil.copytree(ROOT / Path(page).parent, tmp_path, dirs_exist_ok=True)
    for step in _of(page):
        interpreter = {"bash": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}[step.language]
        _run([*interpreter, step.text], tmp_path)
    if gallery.is_built_by_its_page(ROOT / Path(page).parent):
        printed = gallery.printed(_run(list(gallery.CTEST), tmp_path))
        assert printed.strip()
        assert gallery.shown(Path(page).parent.name) in (None, printed)


@pytest.mark.parametrize("block", ALONE, ids=str)
def test_each_code_block_runs(block: Block, tmp_path: Path) -> None:
    if block.language == "bash":
        _run(["bash", "-euo", "pipefail", "-c", block.text], tmp_path)
    elif block.language == "toml":
        tomllib.loads(block.text)
    elif block.language == "json":
        json.loads(block.text)
    else:
        _compile(block, tmp_path)
