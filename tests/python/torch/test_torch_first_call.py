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

# The results of calls in these modes. In the others, the result of a later call is expected.
TRACED = ["Tensor", "torch.float32", "cpu", [5.0, 7.0, 9.0]]
GIVEN = {
    "nothing": ["Tensor", "torch.float32", "cpu", [3.0, 5.0, 7.0]],
    "jit_trace": [["prim::Constant", "kernpack_torch_tests::scale", "kernpack_torch_tests::bump"], TRACED],
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
    done = subprocess.run([sys.executable, str(program), k.path], capture_output=True, text=True)
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


BY_NAME = """
import sys, torch, kernpack, kernpack.torch
k = kernpack.load(sys.argv[1])
torch.ops.kernpack_torch_tests.scale.default(torch.ones(3))
print(vars(type(torch.ops.kernpack_torch_tests.scale.default))["__call__"] == k.scale)
"""


def test_an_operator_that_is_first_called_by_its_name_has_the_direct_call(k) -> None:
    """It is made before the first tensor comes to the call core, and asks for the hooks then."""
    assert _output(BY_NAME, k.path) == str(SETTING != "0")


IN_A_LEVEL = """
import sys, torch, kernpack
from torch.autograd import forward_ad
asked = []
own = forward_ad.unpack_dual
forward_ad.unpack_dual = lambda *a, **named: asked.append(1) or own(*a, **named)
x = torch.arange(3.0)
with forward_ad.dual_level():
    k = kernpack.load(sys.argv[1])
    assert torch.equal(k.scale(x), 2 * x)
    try:
        k.scale(forward_ad.make_dual(x, x))
        sys.exit("the tangent was lost")
    except RuntimeError as error:
        assert "carries a tangent" in str(error)
assert torch.equal(k.scale(x), 2 * x)
before = len(asked)
assert torch.equal(k.scale(x), 2 * x)
print(len(asked) - before, kernpack._core.torch_way(x))
"""


def test_levels_of_forward_mode_are_told_after_a_first_call_inside_one(k) -> None:
    below = 1
    assert _output(IN_A_LEVEL, k.path, KERNPACK_PRIVATE="0") == f"0 {below}"


def _output(code: str, path: str, **environment: str) -> str:
    command = [sys.executable, "-c", code, path]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


INSIDE_IMPORT = """
import sys
def init():  # torch imports it, and calls it before its own import ends
    import torch, kernpack
    print(kernpack.load(sys.argv[1]).scale(torch.ones(3)).tolist(), torch.__spec__._initializing)
"""
AFTER_IMPORT = """
import torch
from kernpack import _core
print(all(_core.use_torch_hook(name, None) for name in ("torch.fields", "torch.watchers", "torch.results")))
"""


def test_a_first_call_while_torch_is_imported(k, tmp_path: Path) -> None:
    (tmp_path / "planted_backend.py").write_text(INSIDE_IMPORT)
    record = tmp_path / "planted_backend-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: planted_backend\nVersion: 1.0\n")
    (record / "entry_points.txt").write_text("[torch.backends]\nplanted_backend = planted_backend:init\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-c", AFTER_IMPORT, k.path]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[2.0, 2.0, 2.0] True", str(SETTING != "0")]
