"""Tensors that torch negates or conjugates when their values are asked for, as what a kernel writes to."""

from __future__ import annotations

import kernpack
import kernpack.torch
import pytest
import torch

SOURCE = """
void inc(kp::MutTensorView x) {
  const int64_t n = x.numel() * (x.dtype() == kp::c64 ? 2 : 1);
  for (int64_t i = 0; i < n; ++i) static_cast<float*>(x.data_ptr())[i] += 1;
}
void all(kp::ListView<kp::MutTensorView> xs, kp::TensorView y) {
  for (kp::MutTensorView x : xs) x.data_ptr<float>()[0] += y.data_ptr<float>()[0];
}
void twice(kp::TensorView x, kp::MutTensorView o) {
  for (int64_t i = 0; i < x.numel(); ++i) o.data_ptr<float>()[i] = 2 * x.data_ptr<float>()[i];
}
"""
TEXTS = {
    "inc": "(x!: T[N]) -> () where T in {f32, c64}",
    "all": "(xs!: list[f32[N]], y: f32[N]) -> ()",
    "twice": "(x: f32[N]) -> (o: f32[N])",
}


@pytest.fixture(scope="module")
def k():
    return kernpack.load_inline(SOURCE, TEXTS, name="lazy_bits")


@pytest.fixture(params=["direct", "operator", "seen"])
def call(request, k):
    """How the functions are called: as the module's, through torch's dispatcher, and where a profiler looks on."""
    if request.param == "seen":
        with torch.profiler.profile():
            yield k
    else:
        yield kernpack.torch.ops(k) if request.param == "operator" else k


def negated(*values):
    return torch._neg_view(torch.tensor(values))


def test_a_written_parameter_keeps_its_bit_and_gets_the_values(call):
    x = negated(1.0, 2.0)
    version = x._version
    call.inc(x)
    assert x.is_neg()
    assert x.tolist() == [0, -1]
    assert x._version == version + 1


def test_a_conjugated_one(call):
    z = torch.tensor([1 + 2j])
    call.inc(z.conj())  # 1 - 2i becomes 2 - i
    assert z.tolist() == [2 + 1j]


def test_the_imaginary_part_of_a_conjugate(call):
    z = torch.tensor([1 + 2j])
    call.inc(z.conj().imag)
    assert z.tolist() == [1 + 1j]


def test_a_destination(call):
    y = negated(1.0, 1.0)
    call.twice(torch.ones(2), out=y)
    assert y.tolist() == [2, 2]


def test_items_of_a_list_that_is_written_beside_a_lazy_input(call):
    first, second = negated(1.0), torch.ones(1)
    call.all([first, second], negated(2.0))
    assert (first.item(), second.item()) == (-3, -1)


def test_compiled(k):
    def step(x):
        y = torch._neg_view(x)
        k.inc(y)
        return y + 0

    x = torch.ones(2)
    assert torch.compile(step, backend="aot_eager", fullgraph=True)(x).tolist() == [0, 0]
    assert x.tolist() == [0, 0]
