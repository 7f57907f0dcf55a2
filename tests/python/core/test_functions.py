"""Information about functions in Python, and functions in other processes."""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import os
import pickle
import pydoc
import subprocess
import sys

import kernpack
import numpy as np
import pytest
from kernpack._system import SUFFIX
from support import caches


def test_help_and_signature(k):
    assert str(inspect.signature(k.scale)) == "(x, *, f=2.0, out=None)"
    assert "where T in {f32}" in k.scale.__doc__
    assert k.scale.__name__ == "scale"
    assert dir(k) == sorted(k.functions)
    shown = pydoc.render_doc(k.scale, renderer=pydoc.plaintext)
    assert "scale(x, *, f=2.0, out=None)" in shown
    assert "scale(x: T[*S], *, f: float = 2.0) -> (out: T[*S]) where T in {f32}" in shown
    assert str(inspect.signature(k.add)) == "(*args)"
    assert "add(int, int) -> int" in pydoc.render_doc(k.add, renderer=pydoc.plaintext)


LINKED = """
void cube(kp::TensorView, kp::MutTensorView) {}
void slope(kp::TensorView, kp::TensorView, kp::MutTensorView) {}
void along(kp::TensorView, kp::TensorView, kp::MutTensorView) {}
void bend(kp::TensorView, kp::TensorView, kp::TensorView, kp::MutTensorView, kp::MutTensorView) {}
void cube_backward(kp::TensorView, kp::MutTensorView) {}
void _hidden(kp::TensorView, kp::MutTensorView) {}
KP_GRAD(cube, slope);
KP_JVP(cube, along);
KP_GRAD(slope, bend);
"""
LINKED_CONTRACTS = {
    "cube": "(x: f32[N]) -> (out: f32[N])",
    "slope": "(d_out: f32[N], x: f32[N]) -> (d_x: f32[N])",
    "along": "(x: f32[N], t_x: f32[N]) -> (t_out: f32[N])",
    "bend": "(d_d_x: f32[N], d_out: f32[N], x: f32[N]) -> (d_d_out: f32[N], d_x: f32[N])",
    "cube_backward": "(x: f32[N]) -> (out: f32[N])",
    "_hidden": "(x: f32[N]) -> (out: f32[N])",
}


def test_completion_offers_operations_and_no_derivatives():
    """A derivative is what KP_GRAD or KP_JVP names as one, whatever it's called."""
    module = kernpack.load_inline(LINKED, LINKED_CONTRACTS, name="linked_functions")
    assert dir(module) == ["cube", "cube_backward"]
    assert set(module.functions) == set(LINKED_CONTRACTS)
    for name in ("slope", "along", "bend", "_hidden"):
        assert getattr(module, name) is module.functions[name].callable
    with pytest.raises(AttributeError, match="did you mean 'slope'"):
        module.slop  # noqa: B018
    module.close()
    assert dir(module) == []


def test_function_info(k):
    info = k.functions["scale"]
    assert info is k.scale.__self__
    assert info.callable is k.scale
    assert info.text.startswith("(x: T[*S]")
    assert info.targets == [None]
    assert info.typed is not None
    assert len(k.functions) == len(list(k.functions))
    assert "nothing" not in k.functions


def test_functions_are_interned(k):
    again = kernpack.load(k.path)
    assert again.digest == k.digest
    assert again.scale is k.scale


def test_pickle_and_deepcopy(k):
    assert pickle.loads(pickle.dumps(k.scale)) is k.scale
    assert pickle.loads(pickle.dumps(k)).digest == k.digest
    assert pickle.loads(pickle.dumps(k.functions["scale"])) is k.functions["scale"]
    assert copy.deepcopy(k.scale) is k.scale
    assert copy.deepcopy(k) is k


def test_spawned_workers(k):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        result = pool.apply(k.scale, (np.ones(3, dtype=np.float32),))
    np.testing.assert_array_equal(result, [2, 2, 2])


def test_a_module_is_shown_with_the_number_of_its_functions(k):
    assert repr(k) == f"<kernpack module {k.name} {k.version}, {len(k.functions)} functions, from {k.path!r}>"
    one = kernpack.load_inline("int one() { return 1; }", ["one"], name="only_one")
    assert repr(one).startswith("<kernpack module only_one 0, 1 function, from ")


def test_closed_modules_say_so(k):
    module = kernpack.load(k.path)
    module.close()
    with pytest.raises(ValueError, match="was closed"):
        module.scale  # noqa: B018


def test_importing_kernpack_imports_no_framework():
    script = "import kernpack, sys; print([m for m in ('numpy', 'torch', 'jax') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=os.environ, check=True)
    assert run.stdout.strip() == "[]"
    assert run.stderr == ""


def test_info_lists_versions_and_caches():
    facts = kernpack.info()
    assert facts["kernpack"] == kernpack.__version__
    assert facts["threads"] >= 1


def test_inline_results_are_cached(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNPACK_CACHE_DIR", str(caches.with_support(tmp_path)))
    source = "int seven() { return 7; }"
    first = kernpack.load_inline(source, ["seven"])
    stamp = os.stat(first.path).st_mtime_ns
    assert kernpack.load_inline(source, ["seven"]).seven() == 7
    assert os.stat(first.path).st_mtime_ns == stamp
    assert sorted(file.suffix for file in (tmp_path / "inline").iterdir()) == sorted([".cc", ".json", SUFFIX])


def test_inline_errors_show_the_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNPACK_CACHE_DIR", str(caches.with_support(tmp_path)))
    with pytest.raises(RuntimeError, match=r"inline\.cc:1"):
        kernpack.load_inline("int broken( { }", ["broken"])
