"""Arguments of the wrong kind are refused where they are given, not where they first do harm."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
from kernpack_compiler import program
from sample import TENSOR, halve


@pytest.mark.parametrize(
    ("shape", "error", "message"),
    [
        ("NM", TypeError, r"expected a shape such as \(8, 384\) or \('N', 384\), got 'NM'"),
        (5, TypeError, "expected a shape such as"),
        ((2**63,), ValueError, "expected a shape of ints of at least 0"),
        (("é",), ValueError, "or names of sizes"),
        (("_",), ValueError, "or names of sizes"),
    ],
)
def test_shapes_of_specs(shape, error, message):
    with pytest.raises(error, match=f"program.Spec: .*{message}"):
        program.Spec(shape, "f32")


def test_one_target_is_no_list_of_targets():
    traced = program.trace(halve, TENSOR)
    with pytest.raises(TypeError, match=r"program\.plan: targets: expected a list of targets, got .llvm.; put it in"):
        program.plan(traced, "llvm")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "text: expected a text with at least one program, got one without any"),
        ("program m(c: int) {\n  return\n}", "m: c: expected the type of a tensor with its dims, such as f32"),
        ("program m(x: f32[...]) {\n  return\n}", "m: x: expected the type of a tensor"),
        ("program m(x: f32[_]) {\n  return\n}", "m: x: expected the type of a tensor"),
        ("program m(x: f32[2]) {\n  n = const 3\n  return n\n}", "m: result 0: expected the type of a tensor"),
    ],
)
def test_texts_of_what_python_cannot_give(text, message):
    with pytest.raises(ValueError, match=message):
        program.Program.parse(text)


@pytest.mark.parametrize(
    ("name", "signature", "function", "message"),
    [
        (None, "() -> ()", print, "expected a name and a signature as texts, got NoneType and str"),
        ("wrong.types", None, print, "expected a name and a signature as texts, got str and NoneType"),
        ("wrong.types", "() -> ()", None, "wrong.types: expected a function, got NoneType"),
    ],
)
def test_foreign_functions(name, signature, function, message):
    with pytest.raises(TypeError, match=f"program.foreign: {message}"):
        program.foreign(name, signature)(function)


@program.foreign("wrong_types.repeat", "(x: f32[N, D], times: int) -> (out: f32[N, D])")
def repeat(x, times, out):
    out.numpy()[:] = x.numpy() * times


def test_numbers_beyond_64_bits():
    with pytest.raises(OverflowError, match=f"{2**70} does not fit 64 bits"):
        program.trace(lambda x: repeat(x, 2**70), TENSOR)


def test_empty_tensors_of_any_strides():
    executable = program.plan(program.trace(lambda x: repeat(x, 2), program.Spec((3, 0), "f32"))).executable()
    empty = np.empty((3, 4), np.float32)[:, :0]
    assert executable.run(empty).shape == (3, 0)
