"""Graphs that programs make node by node, and functions of the driver that only some programs call."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.emulated import run_lines

pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")

SCRIPT = Path(__file__).with_name("graph_nodes.py")


@pytest.mark.parametrize("part", ["added", "changed", "captured"])
def test_a_graph_has_nodes(part: str) -> None:
    assert run_lines(SCRIPT, part) == []


def test_contexts_buses_and_files() -> None:
    assert run_lines(SCRIPT, "others", devices="sm_90,sm_80") == []


def test_mistakes_are_invalid_arguments() -> None:
    lines = run_lines(SCRIPT, "wrong")
    assert len(lines) == 11
    assert {line.rpartition(": ")[2] for line in lines} == {"1"}, lines
