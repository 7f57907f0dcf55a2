"""Tensors of rank 0: a number will do; and scratch memory that Python never sees."""

from __future__ import annotations

import inspect

import kernpack
import numpy as np
import pytest
import torch
from kernpack._private import is_private_allowed

X = np.arange(3, dtype=np.float32)


@pytest.mark.parametrize(
    "by",
    [2.5, 2, True, np.float32(2.5), np.asarray(2.5, dtype=np.float32), torch.tensor(2.5)],
    ids=["float", "int", "bool", "numpy scalar", "numpy rank 0", "torch rank 0"],
)
def test_a_number_or_a_tensor_of_rank_0(k, by):
    y = k.shift(X, by)
    # Without the hooks into torch, its operator is called (docs/private.md).
    by_torch = isinstance(by, torch.Tensor) and not is_private_allowed("torch.watchers")
    assert type(y) is (torch.Tensor if by_torch else np.ndarray)
    np.testing.assert_array_equal(y, X + np.float32(by))


def test_a_number_goes_with_every_framework_and_with_out(k):
    y = k.shift(torch.from_numpy(X), 1)
    assert type(y) is torch.Tensor
    assert torch.equal(y, torch.from_numpy(X) + 1)
    assert type(k.shift(kernpack.from_dlpack(X), 1.0)) is kernpack.Tensor
    out = np.empty(3, dtype=np.float32)
    assert k.shift(X, 1.0, out=out) is out
    np.testing.assert_array_equal(out, X + 1)


@pytest.mark.parametrize(
    ("by", "text"),
    [
        (np.ones(1, dtype=np.float32), r"shift: by: expected shape \[\]"),
        (np.asarray(2.5), r"shift: by: expected dtype f32, got f64"),
        ("2", r"shift: by: expected .*got str"),
        (None, r"shift: by: expected .*got None"),
    ],
    ids=["rank 1", "f64", "str", "None"],
)
def test_what_is_neither_is_refused(k, by, text):
    with pytest.raises((TypeError, ValueError), match=text):
        k.shift(X, by)


def test_a_workspace_is_allocated_and_hidden(k):
    assert k.scratch(np.ones(10, dtype=np.float32)) == 43
    assert k.scratch(np.empty(0, dtype=np.float32)) == 3
    assert k.scratch(torch.ones(1000)).item() == 4003
    assert str(inspect.signature(k.scratch)) == "(x, *, out=None)"
    out = np.zeros((), dtype=np.int64)
    assert k.scratch(np.ones(2, dtype=np.float32), out=out) is out
    assert out == 11


def test_a_workspace_is_not_leaked(k):
    x = np.ones(10, dtype=np.float32)
    k.scratch(x)
    before = kernpack._core.live_objects()
    for _ in range(50):
        k.scratch(x)
    assert kernpack._core.live_objects() == before
