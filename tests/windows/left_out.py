"""A plugin for pytest: skips the tests that suites.txt leaves out, each with the reason that stands there, and counts by folder."""

from __future__ import annotations

import ctypes
import sys
from collections import Counter
from pathlib import Path, PurePosixPath

import pytest

UNDER_WINE = hasattr(ctypes.CDLL("ntdll"), "wine_get_version") if sys.platform == "win32" else False


def read() -> dict[str, str]:
    """The beginnings of tests' names, or files, and the reasons. Reasons that begin with "Wine: " aren't those of a real Windows."""
    lines = Path(__file__).with_name("suites.txt").read_text(encoding="utf-8").splitlines()
    named = {name: reason for line in lines if line.startswith("- ") for name, _, reason in [line[2:].partition(": ")]}
    return {name: reason for name, reason in named.items() if UNDER_WINE or not reason.startswith("Wine: ")}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = read()
    for item in items:
        for name, reason in left_out.items():
            if item.nodeid.startswith(name):
                item.add_marker(pytest.mark.skip(reason=reason))
    if any("::" in given for given in config.args) or config.option.keyword:
        return  # single tests
    files = {item.nodeid.partition("::")[0] for item in items}
    unknown = [
        name
        for name in left_out
        if name.partition("::")[0] in files and not any(item.nodeid.startswith(name) for item in items)
    ]
    if unknown:
        raise pytest.UsageError(f"tests/windows/suites.txt: there is no test {', '.join(sorted(unknown))}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The counts of each folder, and the files that weren't collected, by reason: docs/versions.md refers to them."""
    counts: dict[str, Counter[str]] = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.getreports(outcome):
            folder = str(PurePosixPath(report.nodeid.partition("::")[0]).parent)
            counts.setdefault(folder, Counter())[outcome] += 1
    files: dict[str, Counter[str]] = {}
    for name, reason in read().items():
        if "::" not in name:
            files.setdefault(str(PurePosixPath(name).parent), Counter())[reason] += 1
    terminalreporter.section("counts by folder")
    for folder in sorted(counts):
        told = ", ".join(f"{counts[folder][outcome]} {outcome}" for outcome in ("passed", "failed", "error", "skipped"))
        terminalreporter.line(f"{folder}: {told}; {files.get(folder, Counter()).total()} files left out")
        for reason, number in files.get(folder, Counter()).most_common():
            terminalreporter.line(f"  {number} file{'' if number == 1 else 's'}: {reason}")
