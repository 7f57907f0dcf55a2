"""The table of docs/versions.md that `make newest` writes: its shape, that what it says is good, and how it is written."""

from __future__ import annotations

import datetime
import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from blocks import ROOT

FILE = ROOT / "tests/newest/table.py"


@pytest.fixture(scope="module")
def table() -> ModuleType:
    spec = importlib.util.spec_from_file_location("newest_table", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["newest_table"] = module
    spec.loader.exec_module(module)
    return module


def _page(table: ModuleType) -> str:
    page: str = table.PAGE.read_text(encoding="utf-8")
    return page


def _check_shape(row: list[str]) -> None:
    date, python, *versions = row[:6]
    assert datetime.date.fromisoformat(date) <= datetime.datetime.now(datetime.UTC).date()
    assert re.fullmatch(r"3\.\d+", python)
    assert all(re.fullmatch(r"\d[\w.+]*", version) for version in versions), versions
    time = r"(\d\.\d\d|\d\d+\.\d)"
    assert all(re.fullmatch(rf"{time} \({time}\)", cell) for cell in row[8:]), row[8:]


def test_the_table_in_the_manual_has_the_shape_that_is_written(table) -> None:
    page = _page(table)
    rows = table.make_rows(page)
    assert table.written(page, rows) == page
    assert len({row[1] for row in rows}) == len(rows)
    for row in rows:
        _check_shape(row)


def test_the_published_table_has_no_failed_test_and_no_hook_that_is_off(table) -> None:
    for row in table.make_rows(_page(table)):
        assert re.fullmatch(r"\d+ passed; \d+ passed", row[6]), row
        assert row[7] == "none", row


REPORT = '<testsuites><testsuite tests="{}" skipped="{}" failures="{}" errors="0"/></testsuites>'


def _results(folder: Path, failures: int = 0, state: str = "on") -> None:
    found = {
        "python": "3.12",
        "versions": {"torch": "2.14.1", "jax": "0.12.0", "numpy": "2.5.5", "apache-tvm-ffi": "0.1.15"},
        "hooks": {"torch.fields": "on", "jax.devices": state},
        "microseconds": {"NumPy": 0.5, "torch": 0.6, "torch, forward and backward": 20.0, "JAX": 5.125},
    }
    for name in ("3.12", "3.12-pinned"):
        (folder / f"{name}.json").write_text(json.dumps(found))
    (folder / "3.12-on.xml").write_text(REPORT.format(100, 3, failures))
    (folder / "3.12-off.xml").write_text(REPORT.format(40, 0, 0))


def _run(table: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[str]]:
    page = folder / "page.md"
    page.write_text(f"before\n\n{table.BEGIN}{table.END}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(table, "PAGE", page)
    monkeypatch.setattr(sys, "argv", ["table.py", str(folder)])
    status = table.main()
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    (row,) = table.make_rows(text)
    return status, row


def test_a_row_has_versions_tests_hooks_and_times(table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _results(tmp_path)
    status, row = _run(table, tmp_path, monkeypatch)
    assert status == 0
    _check_shape(row)
    assert row[1:] == [
        *("3.12", "2.14.1", "0.12.0", "2.5.5", "0.1.15", "97 passed; 40 passed", "none"),
        *("0.50 (0.50)", "0.60 (0.60)", "20.0 (20.0)", "5.12 (5.12)"),
    ]


@pytest.mark.parametrize(
    ("results", "cell"), [({"failures": 2}, "2 of 97 failed; 40 passed"), ({"state": "off: it moved"}, "`jax.devices`")]
)
def test_a_failed_test_or_a_hook_that_is_off_fails_the_target(
    table, results: dict, cell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _results(tmp_path, **results)
    status, row = _run(table, tmp_path, monkeypatch)
    assert status == 1
    assert cell in row


def test_rows_of_other_pythons_stay(table) -> None:
    old = ["2026-01-01", "3.11", *["1"] * (len(table.HEADINGS) - 2)]
    new = ["2026-02-01", "3.9", *["2"] * (len(table.HEADINGS) - 2)]
    page = table.written(f"{table.BEGIN}{table.END}", [old])
    assert table.make_rows(table.written(page, [new])) == [new, old]
