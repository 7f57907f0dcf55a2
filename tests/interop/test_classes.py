"""An author's own C++ classes as values, under our host and under apache-tvm-ffi's: the same calls, the same answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import kernpack
import numpy as np
import pytest
import torch
import tvm_ffi
from support.host import INCLUDE
from support.interop import SOURCES, compile_module

LOADERS: dict[str, Callable[[str], Any]] = {"kernpack": kernpack.load, "tvm_ffi": tvm_ffi.load_module}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_module(
        SOURCES / "classes.cc", tmp_path_factory.mktemp("classes") / "interop_classes.so", f"-I{INCLUDE}"
    )


@pytest.fixture(params=list(LOADERS))
def module(request: pytest.FixtureRequest, path: Path) -> Any:
    return LOADERS[request.param](str(path))


def test_an_object_is_made_used_and_destroyed(module: Any) -> None:
    before = module.alive()
    plan = module.make_plan(3)
    assert module.alive() == before + 1
    x = torch.zeros(3)
    assert [module.run(plan, x) for _ in range(3)] == [1, 2, 3]
    with pytest.raises(ValueError, match="run: expected 3 elements, got 2"):
        module.run(plan, torch.zeros(2))
    other = plan
    del plan
    assert module.alive() == before + 1
    del other
    assert module.alive() == before


def test_a_constructor_that_throws_leaves_nothing(module: Any) -> None:
    before = module.alive()
    with pytest.raises(ValueError, match=r"plan: expected a size >= 0, got -1"):
        module.make_plan(-1)
    assert module.alive() == before


def test_another_object_is_a_type_error(module: Any) -> None:
    for wrong in (module.make_other(1.0), 5, "plan", None):
        with pytest.raises(TypeError, match=r"run: argument 0: expected interop_classes\.Plan, got "):
            module.run(wrong, torch.zeros(3))


def test_none_is_an_empty_optional(module: Any) -> None:
    assert module.is_none(None)
    assert not module.is_none(module.make_plan(1))
    assert module.nothing() is None


def test_storage_keeps_an_object_alive(module: Any) -> None:
    before = module.alive()
    module.keep(module.make_plan(7))
    assert module.kept() == 7
    assert module.alive() == before + 1
    assert module.forget()
    assert module.alive() == before


def test_lists_of_objects(module: Any) -> None:
    assert module.total([module.make_plan(n) for n in (1, 2, 3)]) == 6
    with pytest.raises(TypeError, match=r"total: argument 0"):
        module.total([module.make_plan(1), module.make_other(1.0)])


def test_python_sees_the_type_by_its_key(path: Path) -> None:
    plan = kernpack.load(str(path)).make_plan(2)
    assert isinstance(plan, kernpack.Object)
    assert plan.type_name == "interop_classes.Plan"
    assert repr(plan) == "<kernpack.Object interop_classes.Plan>"
    with pytest.raises(TypeError, match="cannot be called"):
        plan()


def test_the_same_class_of_another_file_is_refused(path: Path, tmp_path: Path) -> None:
    second = compile_module(SOURCES / "classes.cc", tmp_path / "again.so", f"-I{INCLUDE}", "-O0")
    stranger = kernpack.load(str(second)).make_plan(3)
    assert stranger.type_name == "interop_classes.Plan"
    with pytest.raises(TypeError, match=r"expected interop_classes\.Plan, got object"):
        kernpack.load(str(path)).run(stranger, np.zeros(3, np.float32))
