"""Run by Windows' Python: the suites of suites.txt, as pytest's arguments or those that are given instead. Lists each test that is skipped
with its reason."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def read() -> list[str]:
    lines = (ROOT / "tests" / "windows" / "suites.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith("tests/")]


def main(arguments: list[str]) -> int:
    sys.path.insert(0, str(ROOT))  # for the plugin
    chosen = [] if any(word.startswith("tests/") for word in arguments) else read()
    common = ["-q", "-rs", "--rootdir", str(ROOT), "-p", "no:cacheprovider", "-p", "tests.windows.left_out"]
    return int(pytest.main([*common, *arguments, *chosen]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
