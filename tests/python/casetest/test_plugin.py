"""kernpack_cases in pytest: a test for each check, with the findings as its text."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from kernpack_sdk.testing import kernpack_cases
from kernpack_sdk.testing.runner import CannotTest


def test_a_test_for_each_check(compiled: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "test_cases.py").write_text(
        "from kernpack_sdk.testing import kernpack_cases\n"
        f"test_bugs = kernpack_cases({compiled('planted.cc')!r}, ops=['ignores_bias'], checks=['repeat', 'influence', 'rows'])\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 failed, 1 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    assert "ignores_bias: influence: expected bias to change a result" in done.stdout
    assert "the contract has no `...`" in done.stdout
    assert "test_bugs[ignores_bias-influence]" in done.stdout


def test_wrong_use_is_refused(compiled: Callable[[str], str]) -> None:
    with pytest.raises(ValueError, match="level: expected 'quick' or 'full', got 'slow'"):
        kernpack_cases(compiled("fine.cc"), level="slow")
    with pytest.raises(CannotTest, match="expected names of functions, got nothing"):
        kernpack_cases(compiled("fine.cc"), ops=["nothing"])


def test_pytest_loads_it_without_numpy_or_kernpack() -> None:
    program = (
        "import sys, kernpack_sdk.testing.plugin\n"
        "assert not {'numpy', 'kernpack', 'torch', 'jax', 'pytest'} & set(sys.modules), sorted(sys.modules)\n"
        "from kernpack_sdk.testing import Draw\n"
        "assert Draw.__name__ == 'Draw'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
