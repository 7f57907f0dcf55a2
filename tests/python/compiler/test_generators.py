"""Generators that Python registers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import kernpack
import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
import kernpack_compiler as kc
from built import MODULE, expected_softmax, rows

if "unit" not in kc.TargetKind.list():  # kinds stay for the life of a process
    kc.add_target_kind("unit", "cpu", {"width": 4, "fast": True, "ratio": 0.5, "flavour": "plain"})


@pytest.fixture
def generator():
    """Registers one for the kind `unit`; what it was given is in the list."""
    given: list[tuple] = []

    def build(module, target):
        given.append((module, target))
        return kc.build(module, "c")

    kc.register_generator("unit", build, source=lambda module, target: f"// {target}\n{module}")
    yield given
    kc.remove_generator("unit")


def test_it_gets_the_module_and_the_target(generator) -> None:
    built = kc.build(MODULE, "unit -width=8")
    assert generator == [(MODULE, kc.Target("unit -width=8"))]
    np.testing.assert_allclose(built.softmax(rows()), expected_softmax(rows()), rtol=2e-6)
    assert built.source.startswith('// unit -width=8\nmodule "generated"')
    assert "unit" in kc.list_generators()
    assert kc.Target("unit").attrs["flavour"] == "plain"


def test_a_path_is_loaded(generator, tmp_path: Path) -> None:
    library = kc.build(MODULE, "c").export_library(tmp_path / "exported.so")
    kc.register_generator("unit", lambda module, target: library, replace=True)
    built = kc.build(MODULE, "unit")
    assert built.digest == kernpack.load(library).digest
    np.testing.assert_allclose(built.softmax(rows()), expected_softmax(rows()), rtol=2e-6)


def test_its_errors_are_the_callers(generator) -> None:
    class TooWideError(Exception):
        pass

    def build(module, target):
        raise TooWideError("8 lanes at most")

    kc.register_generator("unit", build, replace=True)
    with pytest.raises(TooWideError, match="8 lanes at most"):
        kc.build(MODULE, "unit")
    kc.register_generator("unit", lambda module, target: 3.5, replace=True)
    with pytest.raises(
        TypeError, match=r"unit: expected the generator to return a path or a kernpack.Module, got float"
    ):
        kc.build(MODULE, "unit")


def test_what_it_does_not_offer(generator, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"the generator of target kind 'unit' has no target.export.unit"):
        kc.build(MODULE, "unit").export_library(tmp_path / "k.so")
    with pytest.raises(ValueError, match=r"target\.build\.unit"):
        kc.register_generator("unit", lambda module, target: "")
    with pytest.raises(ValueError, match="unitt"):
        kc.register_generator("unitt", lambda module, target: "")


def test_without_one_the_error_lists_the_others() -> None:
    with pytest.raises(
        RuntimeError, match=r"target kind 'unit' has no code generator; enabled: .*composite: each of its parts"
    ):
        kc.build(MODULE, "unit")


def test_kinds_are_checked() -> None:
    with pytest.raises(ValueError, match="unit"):
        kc.add_target_kind("unit", "cpu")
    with pytest.raises(TypeError, match="width: expected a default of type bool, int, float or str, got list"):
        kc.add_target_kind("other", "cpu", {"width": [4]})
    with pytest.raises(TypeError, match="width"):
        kc.Target({"kind": "unit", "width": "x"})


def test_packed_functions_see_it_too(generator) -> None:
    made = kernpack.get_func("target.build.unit")(MODULE, kc.Target("unit"))
    assert isinstance(made, int)
    with pytest.raises(ValueError, match="line 1, column 1"):
        kernpack.get_func("target.build.c")("nonsense", "c")


def test_a_process_ends_with_generators_registered() -> None:
    program = (
        "import kernpack_compiler as kc\n"
        "kc.add_target_kind('unit', 'cpu')\n"
        "kc.register_generator('unit', lambda module, target: 'x.so')\n"
        "print('registered')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "registered\n", "")
