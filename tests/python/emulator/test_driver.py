"""The emulated driver under programs that know nothing of Kernpack."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.emulated import run_emulated, run_lines

pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")

SCRIPT = Path(__file__).with_name("driver_calls.py")
_REFUSED = {7, 11, 12, 13, 15}  # what makes events, chooses clusters, or updates a graph's node from a kernel


def test_attributes_of_a_launch_that_only_advise_are_taken() -> None:
    for line in run_lines(SCRIPT, "launches"):
        number, *results = map(int, line.split())
        # A cluster's dimension of 0 or 1 in x alone isn't one.
        expected = [1, 1] if number in _REFUSED else [912, 912] if number == 4 else [0, 0]
        assert results == expected, line


def test_facts_have_the_width_that_their_attribute_has() -> None:
    assert run_lines(SCRIPT, "facts") == ["compute mode 0", "unknown 1"]


def test_a_program_that_prints_an_errors_name_alone_gets_the_text_when_it_ends() -> None:
    done = run_emulated(SCRIPT, "name")
    assert done.stdout == "CUDA_ERROR_ILLEGAL_ADDRESS\n"
    assert done.stderr.startswith("kernpack_cuda_emulator: kernel k, block (0, 0, 0), thread (32, 0, 0), PTX line 7")
    assert len(done.stderr.splitlines()) == 1


def test_a_program_that_asks_for_an_errors_text_is_told_once() -> None:
    done = run_emulated(SCRIPT, "text")
    assert done.stdout == "CUDA_ERROR_ILLEGAL_ADDRESS\n"
    assert done.stderr == ""


def test_a_forked_child_is_told_why_it_cannot_use_the_device() -> None:
    said, after = run_lines(SCRIPT, "forked")
    assert said.startswith("3 ")
    assert "this process was forked from one that had called cuInit" in said
    assert after == "0"
