"""Results marked `aux`, which calls don't return unless they are asked for."""

from __future__ import annotations

from typing import Any

import kernpack
import kernpack.torch
import numpy as np
import pytest
import torch

SOURCE = r"""
void halves(kp::TensorView x, kp::MutTensorView saved, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    saved.data_ptr<float>()[i] = x.data_ptr<float>()[i] + 1;
    out.data_ptr<float>()[i] = x.data_ptr<float>()[i] / 2;
  }
}
"""
X = np.arange(4, dtype=np.float32)


@pytest.fixture(scope="module")
def k() -> Any:
    return kernpack.load_inline(
        SOURCE, {"halves": "(x: f32[N]) -> (saved: f32[N] aux, out: f32[N])"}, name="aux_results"
    )


def test_a_place_for_each_result_asks_for_all(k: Any) -> None:
    saved, out = k.halves(X, out=(None, None))
    np.testing.assert_array_equal(saved, X + 1)
    np.testing.assert_array_equal(out, X / 2)
    np.testing.assert_array_equal(k.halves(X), X / 2)


@pytest.mark.parametrize("which", [0, 1])
def test_a_destination_is_written_and_returned(k: Any, which: int) -> None:
    mine = np.zeros(4, np.float32)
    results = k.halves(X, out=(mine, None) if which == 0 else (None, mine))
    assert results[which] is mine
    np.testing.assert_array_equal(results[0], X + 1)
    np.testing.assert_array_equal(results[1], X / 2)


def test_of_torch_too(k: Any) -> None:
    saved, out = k.halves(torch.from_numpy(X), out=(None, torch.zeros(4)))
    assert torch.equal(saved, torch.from_numpy(X + 1))
    assert torch.equal(out, torch.from_numpy(X / 2))


def test_one_place_is_of_what_is_returned(k: Any) -> None:
    mine = np.zeros(4, np.float32)
    assert k.halves(X, out=mine) is mine
    assert k.halves(X, out=(mine,)) is mine
    np.testing.assert_array_equal(mine, X / 2)


def test_another_number_of_places_is_refused(k: Any) -> None:
    with pytest.raises(
        TypeError, match="halves: out: expected a tuple of 1 tensor, or of 2 with the aux results, got 3"
    ):
        k.halves(X, out=(None, None, None))
    with pytest.raises(ValueError, match=r"halves: out\[0\] \(saved\): expected shape \[N\] = \[4\], got \[5\]"):
        k.halves(X, out=(np.zeros(5, np.float32), None))
