"""`kernpack demo`: the results of every framework that is installed are right, and each step is said. Times are measured, not judged."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path

import pytest
from kernpack_sdk.demo import frameworks, show

INSTALLED = [name for name in frameworks.ALL if importlib.util.find_spec(name)]


def test_as_json(command) -> None:
    done = command("demo", "--seconds", "0.01", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    rows = {row["name"]: row for row in found["frameworks"]}
    assert [row.lower().removeprefix("py") for row in rows] == INSTALLED
    for name, result in (("NumPy", "numpy.ndarray"), ("PyTorch", "torch.Tensor"), ("JAX", "jaxlib.ArrayImpl")):
        if name in rows:
            assert rows[name]["result"] == result
            assert 0 < rows[name]["largest_difference"] < 1e-5
            assert rows[name]["seconds"] > 0
            assert rows[name]["own_seconds"] > 0
            assert rows[name]["times_as_fast"] > 0
    assert set(found["left_out"]) == set(frameworks.ALL) - set(INSTALLED)
    assert "compiling with " in done.stderr


def test_every_step_is_said_and_what_is_missing_is_left_out(command, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('no torch here')\n")
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = command("demo", "--seconds", "0.01", env={"PYTHONPATH": paths})
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    steps = [
        "A kernel in C++",
        "    KP_EXPORT(ema, Ema, ",
        "compiling with ",
        "x is an array of 16,384 float32 numbers",
        "NumPy: importing",
        "the result is a numpy.ndarray, largest error ",
        " times as fast",
        "PyTorch: importing",
        "  skipped: no torch here; to add it: pip install torch",
        "JAX: importing",
        "The demo took ",
        "  kernpack new my-kernels",
    ]
    at = 0
    for step in steps if "jax" in INSTALLED else [step for step in steps if "JAX" not in step]:
        at = next((i for i in range(at, len(said)) if step in said[i]), -1)
        assert at >= 0, f"{step!r} isn't said, or too early:\n{done.stdout}"


@pytest.mark.parametrize("name", INSTALLED)
def test_both_ways_give_the_average(name: str) -> None:
    import kernpack
    import numpy as np

    module = kernpack.load_inline(show._SOURCE.read_text())
    x = np.array([1, 2, 4, 0], np.float32)
    made = frameworks.ALL[name](module, x)
    expected = [1, 1.1, 1.39, 1.251]
    np.testing.assert_allclose(np.asarray(made.kernel(made.array)), expected, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(made.own(made.array)), expected, rtol=1e-6)


def test_a_wrong_result_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import kernpack

    source = show._SOURCE.read_text()
    wrong = kernpack.load_inline(source.replace("float average = in[0];", "float average = 0;"))
    monkeypatch.setattr(kernpack, "load_inline", lambda source: wrong)
    with pytest.raises(show.DemoError, match=r"NumPy .*: k.ema\(x\) differs from the expected result by "):
        show.show(lambda text: None, 0.01)


def test_without_a_compiler(command, tmp_path: Path) -> None:
    done = command("demo", env={"CXX": "no-such-compiler", "KERNPACK_CACHE_DIR": str(tmp_path)})
    assert done.returncode == 1
    assert "no compiler 'no-such-compiler' on the PATH; install one or set CXX" in done.stderr
    assert done.stderr.startswith("kernpack demo: ")
