"""`kernpack test`: what it prints and writes, and its exit codes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from kernpack_sdk import cli
from kernpack_sdk.testing import command
from planted_cases import INPUTS

ONE = ["--op", "relu", "--check", "repeat", "--check", "columns"]
BAD = ["--op", "ignores_bias", "--check", "influence", "--check", "repeat"]


def test_a_module_without_findings(compiled: Callable[[str], str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["test", compiled("fine.cc"), *ONE]) == command.PASSED
    shown = capsys.readouterr().out
    assert "fine_cases 1.0.0: 1 function, 1 checks passed, 0 failed, 1 skipped" in shown
    assert "the contract names no independent dims (relu: columns)" in shown


def test_findings_in_every_report(
    compiled: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    junit, page = tmp_path / "new" / "cases.xml", tmp_path / "new" / "cases.html"
    assert command.main([compiled("planted.cc"), *BAD, "--junit", str(junit), "--html", str(page)]) == command.FAILED
    shown = capsys.readouterr().out
    assert "ignores_bias: influence\n  expected bias to change a result" in shown
    assert "use bias in the kernel, or take it out of the contract" in shown

    suite = ET.parse(junit).getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    cases = {case.get("name"): case for case in suite}
    failure = cases["influence"].find("failure")
    assert failure is not None
    assert "expected bias to change a result" in failure.get("message", "")
    assert cases["repeat"].find("failure") is None

    parser = HTMLParser()
    parser.feed(page.read_text())
    parser.close()
    assert '<td class="failed"' in page.read_text()
    assert "expected bias to change a result" in page.read_text()


def test_json_lists_each_check_and_its_status(
    compiled: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([compiled("planted.cc"), *BAD, "--json"]) == command.FAILED
    data = json.loads(capsys.readouterr().out)
    assert data["module"] == "planted_cases"
    assert {each["check"]: each["status"] for each in data["results"]} == {"influence": "failed", "repeat": "passed"}


def test_a_wheel_is_unpacked(
    compiled: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel = tmp_path / "fine-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(compiled("fine.cc"), "fine/fine.so")
    assert command.main([str(wheel), *ONE]) == command.PASSED


def test_two_processes_at_once_find_the_same(
    compiled: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for jobs in ("1", "2"):
        command.main([compiled("planted.cc"), "--op", "ignores_*", "--check", "[im]*", "--json", "--jobs", jobs])
        results = json.loads(capsys.readouterr().out)["results"]
        found.append([(each["op"], each["check"], each["findings"]) for each in results])
    assert found[0] == found[1]


def test_several_rounds_have_other_seeds(compiled: Callable[[str], str], capsys: pytest.CaptureFixture[str]) -> None:
    command.main([compiled("planted.cc"), "--op", "ignores_bias", "--check", "influence", "--json", "--rounds", "2"])
    first, second = json.loads(capsys.readouterr().out)["results"]
    assert first["findings"] != second["findings"]  # other sizes


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["no_such_module"], "kernpack test: no package 'no_such_module' is installed"),
        (["FINE", "--op", "nothing"], "expected names of functions, got nothing; the module has add_to, append"),
        (["FINE", "--check", "nothing"], "expected names of checks, got nothing; there are calls, memory"),
        (["FINE", "--op", "apend"], "expected names of functions, got apend; did you mean 'append'?"),
        (["FINE", "--check", "cals"], "expected names of checks, got cals; did you mean 'calls'?"),
        (["FINE", "--inputs", "/nowhere/inputs.py"], "expected a Python file with generators, got /nowhere/inputs.py"),
        (["FINE", "--rounds", "0"], "--rounds: expected a whole number, 1 or more, got '0'"),
        (["TEXT.whl"], "expected a wheel, got a file that can't be read"),
        (["EMPTY.whl"], "expected a wheel with kernel modules (*.so), found none"),
    ],
)
def test_what_cannot_be_tested(
    compiled: Callable[[str], str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    says: str,
) -> None:
    (tmp_path / "TEXT.whl").write_text("no archive")
    zipfile.ZipFile(tmp_path / "EMPTY.whl", "w").close()
    places = {
        "FINE": compiled("fine.cc"),
        "TEXT.whl": str(tmp_path / "TEXT.whl"),
        "EMPTY.whl": str(tmp_path / "EMPTY.whl"),
    }
    assert command.main([places.get(each, each) for each in arguments]) == command.CANNOT
    assert says in capsys.readouterr().err


def test_an_inputs_file_that_raises(
    compiled: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "inputs.py").write_text("import nothing_of_that_name\n")
    assert command.main([compiled("fine.cc"), "--inputs", str(tmp_path / "inputs.py")]) == command.CANNOT
    assert "inputs.py: ModuleNotFoundError: No module named 'nothing_of_that_name'" in capsys.readouterr().err


def test_the_checks_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--list"]) == command.PASSED
    assert "gradients     declared gradients match finite differences (needs torch)" in capsys.readouterr().out


def test_a_function_without_a_contract_says_how_to_test_it(
    compiled: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    command.main([compiled("cheats.cc"), "--op", "returns_kept_memory", "--check", "calls"])
    assert 'write @arguments("returns_kept_memory") in tests/kernpack_inputs.py' in capsys.readouterr().out
    assert INPUTS.is_file()
