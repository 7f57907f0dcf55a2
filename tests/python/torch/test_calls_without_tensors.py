"""An operator that is called without a tensor, because it takes none, an empty list or None, gives torch's tensors."""

from __future__ import annotations

import kernpack
import kernpack.torch
import pytest
import torch

SOURCE = """
void join(kp::ListView<kp::TensorView> xs, int64_t n, kp::MutTensorView o) {
  for (int64_t i = 0; i < n; ++i) o.data_ptr<float>()[i] = static_cast<float>(xs.size());
}
void count(int64_t n, kp::MutTensorView o) { for (int64_t i = 0; i < n; ++i) o.data_ptr<float>()[i] = static_cast<float>(i); }
void maybe(std::optional<kp::TensorView> x, int64_t n, kp::MutTensorView o, kp::MutTensorView p) {
  for (int64_t i = 0; i < n; ++i) o.data_ptr<float>()[i] = p.data_ptr<float>()[i] = x ? 1 : 2;
}
"""
TEXTS = {
    "join": "(xs: list[f32[_]], n: int) -> (o: f32[n])",
    "count": "(n: int) -> (o: f32[n])",
    "maybe": "(x: f32[_]?, n: int) -> (o: f32[n], p: f32[n])",
}


@pytest.fixture(scope="module")
def k():
    return kernpack.load_inline(SOURCE, TEXTS, name="no_tensors")


def every(f):
    return [f.join([], 1), f.count(2), *f.maybe(None, 1)]


def test_operators(k):
    for found in (every(torch.ops.kernpack_no_tensors), every(kernpack.torch.ops(k))):
        assert all(type(each) is torch.Tensor for each in found)
        assert [each.tolist() for each in found] == [[0], [0, 1], [2], [2]]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled(k, backend):
    found = torch.compile(lambda: every(torch.ops.kernpack_no_tensors) + every(k), backend=backend, fullgraph=True)()
    assert [each.tolist() for each in found] == [[0], [0, 1], [2], [2]] * 2


def test_in_transforms(k):
    count = torch.ops.kernpack_no_tensors.count
    assert torch.func.grad(lambda x: (x * count(2)).sum())(torch.ones(2)).tolist() == [0, 1]
    assert torch.vmap(lambda x: x + count(2))(torch.zeros(1, 2)).tolist() == [[0, 1]]


def test_a_direct_call_has_no_framework_to_follow(k):
    assert type(k.count(1)) is kernpack.Tensor
