"""Inductor removes copies of what an operator writes to afterwards; the operator's own lowering makes them again."""

from __future__ import annotations

import kernpack
import pytest
import torch

SOURCE = """
void reverse_into(kp::TensorView s, kp::MutTensorView d) {
  const int64_t n = s.numel();
  for (int64_t i = 0; i < n; ++i) d.data_ptr<float>()[n - 1 - i] = s.data_ptr<float>()[i];
}
void reverse(kp::TensorView s, kp::MutTensorView d) { reverse_into(s, d); }
"""
TEXTS = {"reverse_into": "(source: f32[N], target!: f32[N]) -> ()", "reverse": "(s: f32[N]) -> (d: f32[N])"}


@pytest.fixture(scope="module")
def k():
    return kernpack.load_inline(SOURCE, TEXTS, name="copies_that_stay")


def written(k, x):
    k.reverse_into(x.clone(), x)


def destination(k, x):
    k.reverse(x.clone(), out=x)


@pytest.mark.parametrize("step", [written, destination])
def test_the_eager_answer(k, step):
    x = torch.arange(8.0)
    torch.compile(lambda x: step(k, x), fullgraph=True)(x)
    assert x.tolist() == [7, 6, 5, 4, 3, 2, 1, 0]
