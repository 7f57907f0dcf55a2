"""The output of examples in docs/gallery.md, and their actual output."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CTEST = ("ctest", "--test-dir", "build", "--verbose", "--no-tests=error")


def shown(example: str) -> str | None:
    """None where the page shows nothing of it."""
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    found = re.search(rf"^### `examples/{example}`\n(?:(?!^#).)*?^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return found and found[1]


def printed(told: str) -> str:
    """By the first test, from what CTEST says."""
    lines = re.finditer(r"^1: (?!Test (?:command|timeout)|Working Dir)(.*)$", told, re.MULTILINE)
    return "".join(found[1] + "\n" for found in lines)


def is_built_by_its_page(example: Path) -> bool:
    """True if the commands of its README build it with CMake: tests/python/docs/test_blocks.py runs those."""
    return "cmake --build" in (example / "README.md").read_text(encoding="utf-8")
