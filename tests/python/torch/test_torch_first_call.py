"""A process's first call with torch tensors, inside each of torch's modes: it gives what a later call gives, and the hooks into torch are
found all the same: their checks don't depend on the state of the calling thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from first_calls import MODES
from kernpack._private import SETTING

# What calls give in these modes, besides being as in a later call.
TRIPLED = ["Tensor", "torch.float32", "cpu", [5.0, 7.0, 9.0]]
GIVEN = {
    "nothing": ["Tensor", "torch.float32", "cpu", [3.0, 5.0, 7.0]],
    "jit_trace": [["prim::Constant", "kernpack_torch_tests::scale", "kernpack_torch_tests::bump"], TRIPLED],
    "func_grad": ["Tensor", "torch.float32", "cpu", [3.0, 12.0, 27.0]],
    "fake_tensors": ["FakeTensor", [3], "torch.float32"],
    "dispatch_mode": [
        ["Tensor", "torch.float32", "cpu", [3.0, 5.0, 7.0]],
        ["kernpack_torch_tests.scale.default", "kernpack_torch_tests.bump.default"],
    ],
    "autocast": ["Tensor", "torch.float32", "cpu", [3.0, 5.0, 7.0]],
}
HOOKS = ["torch.fields", "torch.results", "torch.versions", "torch.watchers"]


@pytest.fixture(scope="module")
def seen(k) -> dict[tuple[str, str], dict[str, Any]]:
    """By mode, and by whether the call in the mode was the process's first."""
    program = Path(__file__).with_name("first_calls.py")
    done = subprocess.run([sys.executable, str(program), k.path], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {(row["mode"], row["when"]): row for row in rows}


@pytest.mark.parametrize("mode", MODES)
def test_a_first_call_inside_a_mode_is_as_a_later_one_and_the_hooks_are_found(seen, mode: str) -> None:
    first, later = seen[mode, "first"], seen[mode, "later"]
    assert "Traceback" not in str(first["given"])
    assert first["given"] == GIVEN.get(mode, later["given"]) == later["given"]
    assert first["after"] == ["Tensor", "torch.float32", "cpu", [3.0, 5.0, 7.0]]
    assert not first["warned"]
    assert [name for name in first["on"] if name in HOOKS] == ([] if SETTING == "0" else HOOKS)
