"""Kernels as authors write them with kp::Span, kp::Accessor and the types below 32 bits, called from Python."""

from __future__ import annotations

from typing import Any

import kernpack
import ml_dtypes
import numpy as np
import pytest

SOURCE = r"""
#include <cmath>
#include <limits>
void in_loop(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = 2 * x.data_ptr<float>()[i];
}
void by_at(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.size(0); ++i)
    for (int64_t j = 0; j < x.size(1); ++j) out.at<float>(i, j) = 2 * x.at<float>(i, j);
}
void by_span(kp::TensorView x, kp::MutTensorView out) {
  const kp::Span<const float, 2> in(x);
  const kp::Span<float, 2> to(out);
  for (int64_t i = 0; i < in.size(0); ++i)
    for (int64_t j = 0; j < in.size(1); ++j) to(i, j) = 2 * in(i, j);
}
void by_row(kp::TensorView x, kp::MutTensorView out) {
  const kp::Span<const float, 2> in(x);
  const kp::Span<float, 2> to(out);
  for (int64_t i = 0; i < in.size(0); ++i)
    for (int64_t j = 0; j < in.size(1); ++j) to[i][j] = 2 * in[i][j];
}
void flat(kp::TensorView x, kp::MutTensorView out) {
  const kp::Span<const float> in(x);
  const kp::Span<float> to(out);
  for (int64_t i = 0; i < in.size(); ++i) to[i] = 2 * in[i];
}
void by_accessor(kp::TensorView x, kp::MutTensorView out) {
  const kp::Accessor<const float, 2> in(x);
  const kp::Accessor<float, 2> to(out);
  for (int64_t i = 0; i < in.size(0); ++i)
    for (int64_t j = 0; j < in.size(1); ++j) to(i, j) = 2 * in(i, j);
}
void span_of_strided(kp::TensorView x, kp::MutTensorView out) { by_span(x, out); }
void limits(kp::TensorView x, kp::MutTensorView out) {
  const kp::Span<float> to(out);
  to[0] = float(std::numeric_limits<kp::half>::lowest());
  to[1] = float(std::numeric_limits<kp::bfloat16>::max());
  to[2] = float(std::numeric_limits<kp::half>::infinity());
  to[3] = kp::bfloat16{0xff7f};
  to[4] = kp::bfloat16::from_bits(0xff7f);
}
template <class scalar_t>
void update(scalar_t* val, scalar_t x) {  // as kernels for at::Half have it
  *val = *val + x;
  *val += x * 2;
  if (*val > std::numeric_limits<scalar_t>::max() || std::isnan(*val)) *val = 0;
}
void accumulate(kp::TensorView x, kp::MutTensorView out) {
  kp::dispatch<float, kp::half, kp::bfloat16>(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const kp::Span<const T> in(x);
    const kp::Span<T> to(out);
    to[0] = 0;
    for (const T value : in) update(to.data(), value);
  });
}
"""
TWICE = "(x: f32[N, M]) -> (out: f32[N, M])"
WAYS = ["in_loop", "by_at", "by_span", "by_row", "flat", "by_accessor"]


@pytest.fixture(scope="module")
def k() -> Any:
    functions = dict.fromkeys(WAYS, TWICE) | {
        "span_of_strided": "(x: f32[N, M] strided) -> (out: f32[N, M])",
        "limits": "(x: f32[]) -> (out: f32[5])",
        "accumulate": "(x: T[N]) -> (out: T[1]) where T in {f32, f16, bf16}",
    }
    return kernpack.load_inline(SOURCE, functions, name="typed_views")


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_an_element_is_the_same_element(k: Any, way: str) -> None:
    x = np.arange(35, dtype=np.float32).reshape(5, 7)
    assert np.array_equal(k.functions[way](x), 2 * x)


def test_a_span_of_a_strided_tensor_is_an_error_that_names_the_accessor(k: Any) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(k.span_of_strided(x), 2 * x)
    with pytest.raises(
        ValueError,
        match=r"span_of_strided: kp::Span<T, 2>: expected a contiguous tensor, got shape \[3, 2\] with strides",
    ):
        k.span_of_strided(x.T)


def test_limits_and_bits_of_half_types(k: Any) -> None:
    lowest, largest, infinity, number, bits = k.limits(np.zeros((), np.float32)).tolist()
    assert (lowest, infinity) == (-65504, np.inf)
    assert largest == float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)
    assert (number, bits) == (65280, -largest)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_a_kernel_for_at_half_accumulates(k: Any, dtype: Any) -> None:
    x = np.array([0.1, 1.5, -2.25, 300, 0.01], dtype)
    expected = np.zeros((), dtype)
    for value in x:
        expected = expected + value
        expected = expected + value * dtype(2)
    assert k.accumulate(x)[0] == expected
