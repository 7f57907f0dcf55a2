"""A caller's int is a float for a kernel in C whose contract says float, whichever framework the call comes from."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import kernpack
import kernpack_sdk
import numpy as np
import pytest

LARGE = 2**53 + 2  # even: a double holds it


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("floats") / "floats.so"
    command = ["gcc", "-std=c99", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{kernpack_sdk.include_dir()}"]
    subprocess.run([*command, str(Path(__file__).with_name("floats.c")), "-o", str(path)], check=True)
    return path


@pytest.fixture(scope="module")
def k(built: Path) -> kernpack.Module:
    return kernpack.load(str(built))


def numpy_array() -> np.ndarray:
    return np.zeros(1)


def torch_tensor() -> object:
    return pytest.importorskip("torch").zeros(1, dtype=pytest.importorskip("torch").float64)


@pytest.mark.parametrize("made", [numpy_array, torch_tensor])
@pytest.mark.parametrize("checked", [False, True])
def test_ints_arrive_as_floats(k: kernpack.Module, made: Callable[[], object], checked: bool) -> None:
    x = made()
    for _ in range(2):  # the second time what the first found out is used
        for a, many, maybe in (
            (3, [1, 2], 5),
            (0.5, [1, 2.5], 7.5),
            (LARGE, [], None),
            (np.int32(3), (np.int64(4), 1.0), np.uint8(9)),
        ):
            if checked:
                with kernpack.checking(trace=False):
                    out = k.seen(x, a, many, maybe)
            else:
                out = k.seen(x, a, many, maybe)
            assert np.asarray(out).tolist() == [a, -1 if maybe is None else maybe, sum(many), 0]


def test_ints_arrive_as_floats_from_jax(k: kernpack.Module) -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        x = jax.numpy.zeros(1, "float64")
        for call in (k.seen, jax.jit(k.seen, static_argnums=(1, 2, 3))):
            for a in (3, 0.5, LARGE):
                assert np.asarray(call(x, a, (1, 2), 5)).tolist() == [a, 5, 3, 0]


def test_what_is_no_number_is_refused_as_before(k: kernpack.Module) -> None:
    x = numpy_array()
    for a, got in ((True, "bool"), ("3", "str"), (None, "None"), (np.True_, "bool")):
        with pytest.raises(TypeError, match=rf"^seen: a: expected float, got {got}$"):
            k.seen(x, a)
    with pytest.raises(TypeError, match=r"^seen: many\[1\]: expected float, got bool$"):
        k.seen(x, 1, [1, True])
    with pytest.raises(OverflowError, match=r"^seen: a: expected an int of 64 bits"):
        k.seen(x, 2**63)
