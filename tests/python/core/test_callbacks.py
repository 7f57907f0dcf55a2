"""Python callables as typed kp::Function parameters."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch


def test_a_callback_gets_and_returns_values(k):
    assert k.apply(lambda x: x * 2, 21) == 42
    assert k.apply(str.upper, "ab") == "AB"
    assert k.apply(lambda x: [x, None, "y"], 1.5) == [1.5, None, "y"]


def test_kernels_and_their_functions_are_callbacks(k):
    assert k.apply(k.echo, "through") == "through"
    assert k.apply(k.apply(lambda x: x, k.echo), 7) == 7


def test_recursion_through_kernel_and_callback(k):
    def down(n: int) -> int:
        return k.count_down(down, n)

    assert k.count_down(down, 50) == 50


def test_endless_recursion_is_an_error(k):
    def forever(n: int) -> int:
        return k.count_down(forever, 1)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        with pytest.raises(RecursionError):
            k.count_down(forever, 1)
    finally:
        sys.setrecursionlimit(limit)


class CustomError(Exception):
    pass


def test_what_a_callback_raises_comes_back_as_the_same_object(k):
    error = CustomError("mine")

    def fail(x: object) -> None:
        raise error

    with pytest.raises(CustomError) as caught:
        k.apply(fail, 1)
    assert caught.value is error
    with pytest.raises(CustomError) as caught:
        k.apply(lambda x: k.apply(fail, x), 1)
    assert caught.value is error


@pytest.mark.parametrize("value", [3, "text", None, [1]])
def test_what_cannot_be_called_is_refused(k, value):
    with pytest.raises(TypeError, match=r"apply: argument 0: expected Function, got "):
        k.apply(value, 1)


def test_a_callback_that_returns_the_wrong_type(k):
    with pytest.raises(TypeError):
        k.count_down(lambda n: "no number", 3)


def test_a_lent_tensor_expires_with_the_callback(k):
    x = np.arange(4, dtype=np.float32)
    kept = []

    def total(view: object) -> float:
        kept.append(view)
        return float(np.from_dlpack(view).sum())

    with pytest.raises(BufferError, match="keep a copy"):
        k.lend(lambda view: kept.append(memoryview(view)) or 0.0, x)
    with pytest.raises(BufferError, match="keep a copy"):
        k.lend(lambda view: kept.append(torch.from_dlpack(view)) or 0.0, x)
    kept.clear()
    assert k.lend(lambda view: torch.from_dlpack(view).sum().item(), x) == 6.0
    assert k.lend(total, x) == 6.0
    with pytest.raises(ValueError, match="lent to a callback"):
        kept[0].shape  # noqa: B018
