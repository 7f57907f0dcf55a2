"""Generators that an author writes, and findings that are allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kernpack_sdk.testing import allow, argument, inputs
from kernpack_sdk.testing.runner import Plan, run

GENERATORS = """
import numpy as np
from kernpack_sdk.testing import allow, argument, arguments


@argument("refuses_all", "lanes")
def lanes(draw):
    assert draw.shape is None
    return 4242


@argument("ignores_*", "N")
def size(draw):
    return int(draw.rng.integers(30, 40))


@arguments("random")
def everything(rng):
    return {"x": np.full(int(rng.integers(2, 5)), 7, np.float32)}


known = [allow("random", "repeat", "random on purpose")]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "inputs.py"
    path.write_text(GENERATORS)
    return path


def test_a_generated_argument_is_what_the_kernel_gets(compiled: Callable[[str], str], file: Path) -> None:
    plan = Plan(compiled("planted.cc"), inputs=file, ops=("refuses_all",), checks=("calls", "memory"))
    calls, memory = run(plan)[1]
    assert calls.status == "passed"
    assert "never written" in memory.findings[0].text  # it is called now, and found to do nothing
    assert ", 4242)" in memory.findings[0].call


def test_a_generated_size(compiled: Callable[[str], str], file: Path) -> None:
    (result,) = run(Plan(compiled("planted.cc"), inputs=file, ops=("ignores_bias",), checks=("influence",)))[1]
    assert result.findings[0].call.startswith("ignores_bias(f32[3")


def test_allowed_findings_are_shown_and_do_not_fail(compiled: Callable[[str], str], file: Path) -> None:
    (result,) = run(Plan(compiled("planted.cc"), inputs=file, ops=("random",), checks=("repeat",)))[1]
    assert (result.status, result.reason) == ("allowed", "random on purpose")
    assert "two equal calls" in result.findings[0].text


def test_a_generator_that_gives_nonsense_is_named(compiled: Callable[[str], str], tmp_path: Path) -> None:
    path = tmp_path / "inputs.py"
    path.write_text("from kernpack_sdk.testing import arguments\n\n\n@arguments('random')\ndef f(rng):\n    return 3\n")
    (result,) = run(Plan(compiled("planted.cc"), inputs=path, ops=("random",), checks=("repeat",)))[1]
    assert "arguments: expected a dict or a tuple, got int" in result.findings[0].text


def test_wrong_use_is_refused() -> None:
    with pytest.raises(ValueError, match=r"allow: reason: expected text, got ''"):
        allow("op", "check", "")
    with pytest.raises(TypeError, match="argument: expected the names of an op"):
        argument("op", 3)  # type: ignore[arg-type]


def test_the_default_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert inputs.read(None) == inputs.Inputs()
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "kernpack_inputs.py").write_text(GENERATORS)
    assert inputs.read(None).allowance("random", "repeat") == "random on purpose"
