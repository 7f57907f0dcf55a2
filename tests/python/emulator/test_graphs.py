"""Calls that are kept as a graph on the emulated device."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulated import run

HERE = Path(__file__).parent
pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")


def test_a_graph_runs_as_often_as_it_is_launched_on_what_its_tensors_hold_then(nvrtc: None) -> None:
    done = run(HERE / "captured.py", KERNPACK_EMULATOR="sm_90")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:3] == [
        "captured, not run: [0.0, 0.0]",
        "run: [3.0, 4.0]",
        "run with other values: [12.0, 22.0]",
    ]
    waited, inside, failed, after, default, wrong = lines[3:]
    assert waited.startswith("waited for: RuntimeError: cuda:0: ")
    assert "captured" in waited
    assert inside == "captured inside: GraphError: captured: the stream is being captured already"
    assert failed == "failed inside: ZeroDivisionError: division by zero"
    assert after == "after that: [11.0, 21.0]"
    assert default.startswith("GraphError: captured: expected a stream of its own, got the default stream")
    assert wrong == "TypeError: captured: expected a kernpack.Stream of a cuda device, got 'a stream'"


def test_only_the_emulated_device_is_captured() -> None:
    done = run("-c", "import kernpack_cuda_emulator as e\nwith e.captured(None): pass")
    assert "captured: set KERNPACK_EMULATOR before the process starts" in done.stderr
