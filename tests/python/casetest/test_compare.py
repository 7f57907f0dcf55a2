"""When two outcomes are the same."""

from __future__ import annotations

import numpy as np
import pytest
from kernpack_sdk.testing import compare

NAN = np.nan


@pytest.mark.parametrize(
    ("a", "b", "exact", "same"),
    [
        ([1.0, NAN], [1.0, NAN], True, True),
        ([0.0], [-0.0], True, False),
        ([0.0], [-0.0], False, True),
        ([1.0, 1e-3], [1.0, 1e-3 + 1e-5], False, True),  # small beside the largest
        ([-6.9e-19], [0.0], False, True),  # what cancellation leaves
        ([1.0], [1.01], False, False),
        ([1.0], [NAN], False, False),
        ([np.inf], [-np.inf], False, False),
        ([np.inf], [3e38], False, False),
    ],
)
def test_floats_differ_as_their_tolerance_says(a: list[float], b: list[float], exact: bool, same: bool) -> None:
    found = compare.difference(["y"], [np.float32(a)], [np.float32(b)], exact=exact)
    assert (found == "") is same, found


def test_the_first_difference_is_named() -> None:
    a, b = np.zeros((2, 3), np.int32), np.zeros((2, 3), np.int32)
    b[1, 2] = 7
    assert compare.difference(["x", "y"], [a, a], [a, b], exact=False) == "y[1, 2] is 0 and 7 (1 of 6 elements)"
    assert compare.difference(["y"], [a], [a[:1]], exact=False) == "y is int32[2, 3] and int32[1, 3]"
