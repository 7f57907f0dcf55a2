"""The stubs written from signatures are what type checkers expect: sound themselves, and they tell right calls from wrong."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from kernpack_sdk import stubs
from kernpack_sdk.table import Function

SIGNATURES = {
    "rms_norm": "(x: T[..., D], weight: T[D], *, eps: float = 1e-6) -> (out: T[..., D]) where T in {f32, f16, bf16}",
    "topk": "(x: f32[..., N], *, k: int) -> (values: f32[..., k], indices: i32[..., k]) where 0 < k <= N",
    "scale": "(x: f32[N], by: f32[], bias: f32[N]? = None) -> (out: f32[N])",
    "write": "(cache!: T[P], key: T[P], slot: I[B]) -> () where T in any, I in {i32, i64}",
    "pick": '(x: f32[N], *, how: str in {"add", "it\'s, (so)"} = "add", to: dtype = f32, on: device? = None) -> (out: to[N])',
    "merge": "(xs: list[f32[N]], weights: list[float] = [1.0, inf], *, low: float = -inf, flag: bool = True) -> (out: f32[N])",
    "loss": "(x: f32[N]) -> (out: f32[] sum, saved: f32[N] aux) with deterministic, nondiff(x)",
    "exp_backward": "(d_out: f32[N], out: f32[N]) -> (d_x: f32[N], more: f32[N] aux)",
    "every": "(x: f32[N], stride: list[int] = [2]) -> (out: f32[N // stride[0]])",
}
FUNCTIONS = [
    *(Function(name, None, text, 'Doc with """ and \\.', None) for name, text in SIGNATURES.items()),
    Function("rms_norm", "llvm -mcpu=x86-64-v3", SIGNATURES["rms_norm"], None, None),
    Function("untyped", None, None, None, "(int, int) -> int"),
]
USE = """\
import numpy as np
import m

x = np.zeros((2, 3), np.float32)
y: np.ndarray = m.rms_norm(x, x)
values, indices = m.topk(x, k=2)
z: np.ndarray = m.scale(x, 2.0)
z = m.scale(x, x, None, out=x)
nothing: None = m.write(x, x, x)  # type: ignore[func-returns-value]
z = m.pick(x, how="it's, (so)", to=np.float32, on="cpu")
z = m.merge([x, x], [1.0], low=0.5)
z = m.loss(x)
z = m.loss(x, out=x)
z, saved = m.loss(x, out=(None, x))
values, indices = m.topk(x, k=2, out=(None, indices))
z = m.exp_backward(x, out=x)
z = m.exp_backward(x, x)
z = m.every(x, [3], out=x)
m.untyped(1, 2)
"""
WRONG = {
    "missing": ("m.topk(x)", "call-arg"),
    "unknown_keyword": ("m.rms_norm(x, x, epsilon=1.0)", "call-arg"),
    "keyword_only": ("m.rms_norm(x, x, 1e-5)", "misc|call-arg"),
    "str_for_int": ('m.topk(x, k="2")', "arg-type"),
    "no_choice": ('m.pick(x, how="sub")', "arg-type"),
    "aux_without_a_place": ("a, b, c = m.loss(x, out=(x, x))", "misc"),
    "out_is_a_parameter": ("m.exp_backward(x)", "call-arg"),
    "none_for_a_float": ("m.rms_norm(x, x, eps=None)", "arg-type"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stubs")
    (path / "m.pyi").write_text(stubs.render(FUNCTIONS))
    return path


def mypy(folder: Path, *files: str) -> str:
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), *files]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_right_calls_and_the_stub_itself(folder: Path) -> None:
    (folder / "use.py").write_text(USE)
    assert "Success" in mypy(folder, "m.pyi", "use.py")


def test_wrong_calls(folder: Path) -> None:
    calls = [call for call, _ in WRONG.values()]
    (folder / "wrong.py").write_text("\n".join(["import m, numpy as np", "x = np.zeros(3, np.float32)", *calls, ""]))
    output = mypy(folder, "wrong.py")
    for line, (_, code) in enumerate(WRONG.values(), start=3):
        assert re.search(rf"wrong\.py:{line}: error: .*\[({code})\]", output), output


@pytest.mark.parametrize(
    ("signature", "doc"),
    [('(x: f32[N]) -> (out: f32[N]) with on "cuda"', None), ("(x: f32[N]) -> (out: f32[N])", 'Says "scale"')],
)
def test_a_docstring_may_end_with_a_quotation_mark(signature: str, doc: str | None) -> None:
    (function,) = ast.parse(stubs.render([Function("scale", None, signature, doc, None)])).body[-1:]
    assert isinstance(function, ast.FunctionDef)
    docstring = ast.get_docstring(function)
    assert docstring is not None
    assert docstring.endswith(doc or 'with on "cuda"')
