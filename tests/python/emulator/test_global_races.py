"""Races through global memory as programs see them: between streams, and between blocks with `--check`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.emulated import without_emulator

pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
PROGRAM = Path(__file__).with_name("stream_orders.py")


def _run(order: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kernpack_cuda_emulator", "run", *words, "--", sys.executable, PROGRAM, order],
        env=without_emulator(), capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


@pytest.mark.parametrize(
    "order",
    ["event", "synchronised", "event_synchronised", "one_stream", "default_stream", "through_a_third", "copied_after_an_event", "counts", "reads",
     "writes"],
)  # fmt: skip
def test_ordered_launches_and_launches_that_do_no_harm(order: str) -> None:
    done = _run(order)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("order", ["nothing", "event_too_early"])
def test_a_read_of_what_another_stream_writes(order: str) -> None:
    done = _run(order)
    assert done.returncode == 1
    assert (
        "kernel reads, block (0, 0, 0), thread (0, 0, 0), PTX line 8: ld.global.u32 reads the byte at 0x" in done.stderr
    )
    assert (
        "of global memory, which kernel writes of another stream wrote at PTX line 6 (st.global.u32): an event or a "
        "synchronisation has to come between the two"
    ) in done.stderr


def test_a_write_over_what_another_stream_reads() -> None:
    done = _run("writes_after_a_read")
    assert done.returncode == 1
    assert "which kernel reads of another stream read at PTX line 8 (ld.global.u32)" in done.stderr


def test_a_fill_over_what_another_stream_writes() -> None:
    done = _run("filled")
    assert done.returncode == 1
    race = " the byte at 0x"
    # Which of the two runs first isn't said.
    assert (
        f"a copy or fill writes{race}" in done.stderr or "which a copy or fill of another stream wrote" in done.stderr
    )


def test_a_copy_of_what_another_stream_writes() -> None:
    done = _run("copied")
    assert done.returncode == 1
    assert (
        "kernel writes, block (0, 0, 0), thread (0, 0, 0), PTX line 6: st.global.u32 writes the byte at" in done.stderr
    )
    assert "which a copy or fill of another stream read: an event or a synchronisation has to come" in done.stderr


def test_the_check_can_be_left_out() -> None:
    for checks, found in (("races,init", 0), ("none", 0), ("global", 1)):
        assert _run("nothing", "--check", checks).returncode == found, checks
