"""Every planted mistake and every cheat is found, by the check that is meant to, and the finding says what it is."""

from __future__ import annotations

import platform
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kernpack_sdk.testing.checks import all_checks
from kernpack_sdk.testing.runner import Plan, Session
from planted_cases import BUGS, CHEATS, HELD_OUT, INPUTS, NOT_FOUND, Planted, found_by

CHECKS = {check.name: check for check in all_checks()}


@pytest.fixture(scope="module")
def bugs(compiled: Callable[[str], str]) -> Iterator[Session]:
    with Session(Plan(compiled("planted.cc"), inputs=INPUTS)) as session:
        yield session


@pytest.fixture(scope="module")
def cheats(compiled: Callable[[str], str]) -> Iterator[Session]:
    with Session(Plan(compiled("cheats.cc"), inputs=INPUTS)) as session:
        yield session


@pytest.fixture(scope="module")
def held_out(compiled: Callable[[str], str]) -> Iterator[Session]:
    with Session(Plan(compiled("held_out.cc"))) as session:
        yield session


def _find(session: Session, planted: Planted) -> None:
    for _ in range(3 if planted.op.startswith("races") else 1):  # where threads meet by chance
        results = [session.process(bool(CHECKS[name].needs)).run(planted.op, CHECKS[name]) for name in planted.checks]
        texts = [f"{each.text} {each.call} {each.advice}" for result in results for each in result.findings]
        if any(re.search(planted.says, text, re.DOTALL) for text in texts):
            return
    pytest.fail(f"{texts or results}")


@pytest.mark.parametrize("planted", BUGS, ids=lambda planted: planted.op)
def test_each_planted_bug_is_found(bugs: Session, planted: Planted) -> None:
    _find(bugs, planted)


def test_a_kernel_that_hangs_is_reported_with_its_arguments(compiled: Callable[[str], str]) -> None:
    hang = found_by("hangs_at_13", "mirror", r"within 12 seconds, but it is still running.*hangs_at_13\(f32\[13\]\)")
    with Session(Plan(compiled("planted.cc"), patience=12)) as session:
        _find(session, hang)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the wrong variant is the baseline beside one for x86-64-v2")
def test_wrong_variant(bugs: Session) -> None:
    _find(bugs, found_by("wrong_variant", "processes", r"the implementation for llvm -mcpu=x86-64 .*KP_EXPORT_FOR"))


@pytest.mark.parametrize("planted", CHEATS, ids=lambda planted: planted.op)
def test_each_kernel_that_hides_its_bug_from_one_check_is_found(cheats: Session, planted: Planted) -> None:
    _find(cheats, planted)


@pytest.mark.parametrize("planted", HELD_OUT, ids=lambda planted: planted.op)
def test_held_out(held_out: Session, planted: Planted) -> None:
    _find(held_out, planted)


def test_no_held_out_bug_is_forgotten(held_out: Session) -> None:
    told_of = {planted.op for planted in HELD_OUT} | set(NOT_FOUND)
    assert told_of == {name for name in held_out.facts["functions"] if not name.endswith("_backward")}


def test_what_one_check_found_is_not_said_again(bugs: Session) -> None:
    assert bugs.run("adds_to_result", CHECKS["garbage"]).status == "failed"
    later = bugs.run("adds_to_result", CHECKS["fork"])
    assert (later.status, later.reason) == ("skipped", "it would repeat what garbage found")
    assert bugs.run("divides_by_rows", CHECKS["calls"]).ended
    assert bugs.run("divides_by_rows", CHECKS["rows"]).reason == "a call ended the process (see calls)"


def test_no_temporary_file_stays(
    compiled: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with Session(Plan(compiled("planted.cc"), inputs=INPUTS)) as session:
        session.run("trusts_heap", CHECKS["processes"])  # it has processes of its own
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


def test_a_kernel_that_writes_elsewhere_is_not_called_unchecked(bugs: Session) -> None:
    assert "writes outside of its tensors" in bugs.run("writes_beyond", CHECKS["pool"]).reason
