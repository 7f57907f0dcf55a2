"""`kernpack profile`: a script as Python would run it, and what its kernels took."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SCRIPT = """\
import sys
import kernpack

k = kernpack.load_inline("int add(int a, int b) { return a + b; }", ["add"], name="profiled")
print(__name__, sys.argv[1:], k.add(1, 2))
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "neighbour.py").write_text("")
    path = tmp_path / "script.py"
    path.write_text(SCRIPT + "import neighbour\n")
    return path


def test_a_script_and_its_arguments(command, script: Path, tmp_path: Path) -> None:
    trace, numbers = tmp_path / "t.json", tmp_path / "n.json"
    done = command("profile", "--trace", trace, "--json", numbers, script, "--size", "3")
    assert (done.returncode, done.stdout) == (0, "__main__ ['--size', '3'] 3\n"), done.stderr
    assert "profiled.add" in done.stderr
    assert json.loads(numbers.read_text())["ops"][0]["calls"] == 1
    assert json.loads(trace.read_text())["traceEvents"][0]["name"] == "profiled.add"


def test_a_module(command, script: Path) -> None:
    done = command("profile", "--json", "-", "-m", "script", cwd=script.parent)
    first, _, rest = done.stdout.partition("\n")
    assert first == "__main__ [] 3", done.stderr
    assert json.loads(rest)["calls"] == 1


def test_a_script_that_fails_keeps_what_it_did(command, script: Path) -> None:
    script.write_text(SCRIPT + "1 / 0\n")
    done = command("profile", script)
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "_cli" not in done.stderr  # the frames of the script alone
    assert "profiled.add" in done.stderr


@pytest.mark.parametrize(("end", "code"), [("sys.exit(3)", 3), ("sys.exit()", 0), ("sys.exit('why')", 1)])
def test_the_exit_code_is_the_script_s(command, script: Path, end: str, code: int) -> None:
    script.write_text(SCRIPT + end + "\n")
    assert command("profile", script).returncode == code


def test_what_cannot_be(command, script: Path, tmp_path: Path) -> None:
    for words, said in (
        (("none.py",), "kernpack profile: none.py: no such file; -m runs a module"),
        (
            ("--trace", "nowhere/x.json", script),
            "kernpack profile: nowhere/x.json: its folder doesn't exist; make it first",
        ),
    ):
        done = command("profile", *words, cwd=tmp_path)
        assert (done.returncode, done.stderr.partition("\n")[0]) == (2, said)
