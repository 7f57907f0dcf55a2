"""Configurations that `kernpack bench` measured. tests/python/emulator/test_imported.py measures some."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
import kernpack_compiler as kc
from kernpack_compiler._imports._configs import read_measured

SMALL = {"when": "N <= 16", "constants": {"B": 16}}
LARGE = {"when": "N <= 16", "constants": {"B": 64}}
ALWAYS = {"constants": {"B": 64}, "num_warps": 8}


def written(folder: Path, *rows: tuple[Any, float]) -> Path:
    file = folder / "configs.json"
    file.write_text(json.dumps([{"case": json.dumps(row), "median": seconds, "spread": 0} for row, seconds in rows]))
    return file


def test_the_fastest_row_of_each_condition_is_taken_in_order(tmp_path: Path) -> None:
    file = written(tmp_path, (SMALL, 3e-6), (LARGE, 2e-6), (ALWAYS, 9e-6), (SMALL, 2.5e-6))
    assert read_measured(file, "f") == [LARGE, ALWAYS]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected what `kernpack bench --json` prints of config_cases(), got something else (JSONDecodeError"),
        ("{}", "expected at least one measured row, got none"),
        ("[1]", "got something else (TypeError"),
        ('[{"case": "softmax", "median": 1}]', "got something else (JSONDecodeError"),
        ('[{"case": "{}"}]', "got something else (KeyError: 'median')"),
        ('[{"case": "[]", "median": 1}]', "expected cases that are rows of configs=, got []"),
        ('[{"case": "{\\"when\\": 3}", "median": 1}]', "expected cases that are rows of configs=, got {'when': 3}"),
    ],
)
def test_files_of_another_kind_are_named(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "configs.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=re.escape(f"f: configs: {file}: ") + ".*" + re.escape(said)):
        read_measured(file, "f")


def test_rows_and_calls_that_cannot_be_measured_are_named() -> None:
    with pytest.raises(ValueError, match=r"config_cases: configs\[1\]: 'when' comes from calls; leave it out"):
        next(kc.config_cases(print, [{}, SMALL], {"": ()}))
    with pytest.raises(TypeError, match=r"config_cases: calls\['N'\]: expected a tuple of arguments, got list"):
        next(kc.config_cases(lambda rows: rows[0], [], {"N": []}))  # type: ignore[dict-item, arg-type, return-value]
