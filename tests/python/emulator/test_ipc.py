"""Memory and events of the emulated device that another process opens."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.emulated import run_lines

pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")

SCRIPT = Path(__file__).with_name("ipc_memory.py")


def test_another_process_reads_and_writes() -> None:
    assert run_lines(SCRIPT, "shared") == []


def test_another_process_knows_what_was_written() -> None:
    (line,) = run_lines(SCRIPT, "unwritten")
    assert "ld.global.u32 reads 4 bytes" in line
    assert "that nothing has written" in line


def test_mistakes_have_the_drivers_errors() -> None:
    invalid, context, handle = "1", "201", "400"
    assert dict(line.rsplit(": ", 1) for line in run_lines(SCRIPT, "wrong")) == {
        "its own": context,
        "no flag": invalid,
        "garbage": invalid,
        "ended": handle,
        "no memory": invalid,
        "never opened": invalid,
        "not of events": invalid,
        "an event with time": invalid,
        "a shared event with time": invalid,
    }
