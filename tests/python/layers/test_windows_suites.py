"""tests/windows/suites.txt: each suite that Windows could run is listed there, or left out with a reason."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDERS = (
    "tests/python/core",
    "tests/error",
    "tests/python/checking",
    "tests/python/kernels",
    "tests/python/torch",
    "tests/windows",
)


def _read() -> tuple[list[str], dict[str, str]]:
    """The suites, and the reasons of what is left out."""
    lines = (ROOT / "tests/windows/suites.txt").read_text(encoding="utf-8").splitlines()
    left_out = [re.fullmatch(r"- (tests/.+?): (.+)", line) for line in lines if line.startswith("- ")]
    assert all(left_out), "expected '- <file or test>: <reason>'"
    return [line for line in lines if line.startswith("tests/")], {found[1]: found[2] for found in left_out if found}


def test_each_suite_runs_or_has_a_reason() -> None:
    suites, left_out = _read()
    files = {file for file in left_out if "::" not in file}
    there = {str(file.relative_to(ROOT)) for folder in FOLDERS for file in (ROOT / folder).rglob("test_*.py")}
    assert there == {*suites, *files}
    assert len(suites) + len(files) == len(there)


def test_each_test_that_is_left_out_is_there() -> None:
    suites, left_out = _read()
    for name in left_out:
        file, _, test = name.partition("::")
        if test:
            assert file in suites
            assert f"def {test.partition('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8")
