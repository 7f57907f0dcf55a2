"""A plugin for pytest under Wine: skips the tests that suites.txt leaves out, each with the reason that stands there."""

from __future__ import annotations

from pathlib import Path

import pytest


def read() -> dict[str, str]:
    """The beginnings of tests' names, or files, and the reasons."""
    lines = Path(__file__).with_name("suites.txt").read_text(encoding="utf-8").splitlines()
    return {name: reason for line in lines if line.startswith("- ") for name, _, reason in [line[2:].partition(": ")]}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    left_out = read()
    tests = {name for name in left_out if "::" in name}  # the files aren't collected
    unknown = {name for name in tests if not any(item.nodeid.startswith(name) for item in items)}
    for item in items:
        for name, reason in left_out.items():
            if item.nodeid.startswith(name):
                item.add_marker(pytest.mark.skip(reason=reason))
    if unknown and len(items) > 100:  # a run of everything
        raise pytest.UsageError(f"tests/windows/suites.txt: there is no test {', '.join(sorted(unknown))}")
