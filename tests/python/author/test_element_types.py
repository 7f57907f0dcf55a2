"""Every dtype that a contract can name has a C++ type, but for those of less than a byte."""

from __future__ import annotations

import kernpack
import numpy as np
import pytest

SOURCE = r"""
#include <kernpack/kernel.h>
#include <complex>
namespace kp = kernpack;
static void Turn(kp::TensorView x, kp::MutTensorView o) {
  kp::dispatch<std::complex<float>, std::complex<double>>(x.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    const T* from = x.data_ptr<T>();
    for (int64_t i = 0; i < x.numel(); ++i) o.data_ptr<T>()[i] = from[i] * T(0, 1);
  });
}
static void Sum(kp::TensorView x, kp::MutTensorView o) {
  const kp::Accessor<const std::complex<float>, 2> rows(x);
  std::complex<float> sum;
  for (int64_t i = 0; i < rows.size(0); ++i)
    for (int64_t j = 0; j < rows.size(1); ++j) sum += rows.at(i, j);
  *o.data_ptr<std::complex<float>>() = sum;
}
// Of a class that isn't std::complex, but has its members, as thrust::complex and cuda::std::complex.
struct Pair {
  using value_type = double;
  double parts[2];
  double real() const { return parts[0]; }
  double imag() const { return parts[1]; }
};
static_assert(kp::dtype_of<Pair> == kp::c128);
static_assert(kp::dtype_of<const std::complex<float>> == kp::c64);

template <class... T>
static bool Has(kp::DType dtype) { return ((kp::dtype_of<T> == dtype) || ...); }
static bool HasType(kp::DType dtype) {
  return Has<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, kp::half, kp::bfloat16, float, double,
             std::complex<float>, std::complex<double>, kp::float8_e3m4, kp::float8_e4m3, kp::float8_e4m3b11fnuz,
             kp::float8_e4m3fn, kp::float8_e4m3fnuz, kp::float8_e5m2, kp::float8_e5m2fnuz, kp::float8_e8m0fnu>(dtype);
}
static int64_t Missing() {
  int64_t missing = 0;
#define COUNT(constant, name, word, code, bits) missing += (bits) >= 8 && !HasType(kp::constant);
  KP_DTYPES(COUNT)
  return missing;
}
KP_MODULE("element_types", "1.0.0");
KP_EXPORT(turn, Turn, "(x: T[N]) -> (o: T[N]) where T in {c64, c128}");
KP_EXPORT(sum, Sum, "(x: c64[N, M] strided) -> (o: c64[])");
KP_EXPORT(missing, Missing);
"""


@pytest.fixture(scope="module")
def k():
    return kernpack.load_inline(SOURCE)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers(k, dtype):
    turned = k.turn(np.array([1 + 2j, 3], dtype))
    assert turned.dtype == dtype
    assert turned.tolist() == [-2 + 1j, 3j]


def test_an_accessor_of_complex_numbers(k):
    assert k.sum(np.arange(6).reshape(2, 3).astype(np.complex64).T * 1j) == 15j


def test_no_dtype_of_whole_bytes_is_without_a_type(k):
    assert k.missing() == 0


def test_what_is_no_type_of_a_dtype_is_named_with_what_to_use():
    source = "struct Odd { int a; };\nvoid f(kp::TensorView x, kp::MutTensorView o) { (void)x.data_ptr<Odd>(); }"
    with pytest.raises(RuntimeError, match=r"isn't the C\+\+ type of a dtype: use a number's type"):
        kernpack.load_inline(source, {"f": "(x: f32[N]) -> (o: f32[N])"}, name="odd_type")
