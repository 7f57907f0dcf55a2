"""target.build.toy: a generator that a plugin brings, which knows nothing of the SDK but the text of a module."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
from kernpack_sdk import include_dir

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "custom_device"


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("toy") / "libtoy_backend.so"
    options = ["-std=c++20", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-I", include_dir(), "-lpthread"]
    subprocess.run(["g++", *sorted((EXAMPLE / "toy").glob("*.cc")), *options, "-o", library], check=True)
    return library


def run(plugin: Path, *arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "KERNPACK_BACKENDS": str(plugin)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_a_generated_function_runs_on_the_toy(plugin: Path) -> None:
    assert run(plugin, EXAMPLE / "generated.py").splitlines() == [
        "toy:0 15.5 31.0 46.5 62.0",
        "toy: root: 'sqrt' isn't a parameter; the toy runs one loop that stores one element of f32, computed with + - *",
    ]


REFUSED = """
import kernpack, kernpack_compiler as kc, numpy as np
kc.add_target_kind("toy", "toy")
def refusal(call):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, error)
build = lambda text: kc.build(text, "toy")
refusal(lambda: build("func f(x: f64[N]) -> () { }"))
refusal(lambda: build("func f(x: f32[N]) -> (y: f32[N]) { for i in 1..N { y[i] = x[i] } }"))
refusal(lambda: build("func f(x: f32[N]) -> (y: f32[N]) { for i in 0..N { y[i] = x[0] } }"))
refusal(lambda: kernpack.get_func("target.build.toy")(3, "toy"))
k = build("func f(x: f32[N]) -> (y: f32[N]) { for i in 0..N { y[i] = (x[i] + 1.5) * x[i] } }")
refusal(lambda: k.f(np.ones(3, np.float32)))
empty = kernpack.zeros((0,), "f32", "toy")
print(k.f(empty).shape)
"""


def test_what_the_toy_cannot_run_is_refused(plugin: Path) -> None:
    lines = run(plugin, "-c", REFUSED).splitlines()
    assert [line.split("; ")[0] for line in lines] == [
        "ValueError toy: f: expected 'f32', got 'f64'",
        "ValueError toy: f: expected '0', got '1'",
        "ValueError toy: f: expected 'i', got '0'",
        "TypeError toy: expected a kernpack.ir.IRModule as the first argument",
        "RuntimeError f: no variant runs on cpu:0 (toy: it is for toy)",
        "(0,)",
    ]
