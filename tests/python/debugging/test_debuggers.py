"""gdb, valgrind and perf name functions and lines of a loaded module, also when its file was rebuilt since."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from debugged import CXX_SOURCE, Calls, find_line_number


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.fixture
def module(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(built / "kernels.so", tmp_path))


@pytest.fixture
def rebuild(built: Path, module: Path) -> dict[str, str]:
    """Has the file be another once it is loaded."""
    return {"BETWEEN": f"cp {built}/c_kernels.so {module}"}


def at(comment: str) -> str:
    return f"kernels.cc:{find_line_number(CXX_SOURCE, comment)}"


def gdb(calls: Calls, module: Path, *commands: str, **environment: str) -> str:
    options = ("-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "set breakpoint pending on")
    listed = tuple(word for command in commands for word in ("-ex", command))
    done = calls.run(module, "fail", 7, under=(tool("gdb"), *options, *listed, "--args"), **environment)
    if "ptrace: Operation not permitted" in done.stderr:
        pytest.skip("gdb may not trace processes here")
    return done.stdout + done.stderr


def stack(text: str) -> list[str]:
    """`function at file:line` of each frame, the innermost first."""
    frames = re.findall(r"^#\d+ +(?:0x\w+ in )?(.*?) \(.*\) at .*?([^/\n]+:\d+)$", text, re.MULTILINE)
    return [f"{function} at {where}" for function, where in frames]


def test_gdb_breaks_at_a_kernels_function_by_name(calls: Calls, module: Path) -> None:
    text = gdb(calls, module, "break Helper", "run", "bt", "finish", "bt")
    assert "(Helper) pending" in text
    assert stack(text)[1:3] == [
        f"Inlined at {at('calls the helper')}",
        f"Fail at {at('calls the inlined function')}",
    ], text


def test_gdb_that_reads_symbols_after_the_rebuild_has_the_lines_of_what_runs(
    calls: Calls, module: Path, rebuild: dict[str, str]
) -> None:
    late = ("set auto-solib-add off", "watch before_the_call", "run", "sharedlibrary", "delete", "break Helper")
    text = gdb(calls, module, *late, "continue", "bt", **rebuild)
    assert stack(text)[1:3] == [
        f"Inlined at {at('calls the helper')}",
        f"Fail at {at('calls the inlined function')}",
    ], text


def test_valgrind_names_the_line_of_an_invalid_read(calls: Calls, module: Path, rebuild: dict[str, str]) -> None:
    done = calls.run(module, "read_past", 5, under=(tool("valgrind"), "-q"), **rebuild)
    invalid = done.stderr.partition("Invalid read of size 4")[2]
    assert re.match(
        rf"\n==\d+==    at 0x\w+: ReadAt\(int const\*, int\) \({re.escape(at('reads'))}\)"
        rf"\n==\d+==    by 0x\w+: ReadPast\(int\) \({re.escape(at('calls what reads'))}\)",
        invalid,
    ), done.stderr


def test_perf_names_the_function_and_line_that_takes_the_time(
    calls: Calls, module: Path, rebuild: dict[str, str], tmp_path: Path
) -> None:
    perf, data = tool("perf"), tmp_path / "perf.data"
    under = (perf, "record", "-q", "-e", "cpu-clock:u", "-o", str(data))
    done = calls.run(module, "spin", 100, under=under, **rebuild)
    if not data.exists() or not data.stat().st_size:
        pytest.skip(f"perf may not record here: {done.stderr.strip()}")
    shown = ("report", "--stdio", "-q", "-i", str(data), "--sort", "symbol,srcline", "--comm", "host")
    report = subprocess.run([perf, *shown], capture_output=True, text=True, check=True, env=calls.environment).stdout
    (most, *_) = [line for line in report.splitlines() if line.strip()]
    assert "Spin" in most, report
    assert at("spins") in report, report
