// Elementary functions on vectors. The float ones are polynomials of our own, fitted for the smallest largest error: no
// table, no branch, no libm. Accuracies are measured by tests/python/kernels and listed in docs/kernels.md.
#pragma once

#include <cmath>

#include "constants.h"
#include "types.h"
#include "vec.h"

namespace kk {
namespace {

// Coefficients from the highest power down.
template <class... C>
inline VF Polynomial(VF x, float first, C... rest) {
  VF y = Splat(first);
  ((y = y * x + static_cast<float>(rest)), ...);
  return y;
}

// x + kShifter has round(x) + 127 in its low bits, for |x| < 2^22.
constexpr float kShifter = 0x1.8p23f + 127;

// 2^n where shifted = n + kShifter, -127 <= n < 128. n = -127 gives 0.
inline VF PowerOfTwo(VF shifted) { return (VF)((VI)shifted << 23); }

// Within 2.2 ulp on its domain, x <= 89; inf from 88.4 on. Below 2^-126.5 the result is 0, and so is exp(-inf); a NaN stays one.
inline VF Exp(VF x) {
  x = Max(Splat(-88.0f), x);
  const VF shifted = x * 0x1.715476p0f + kShifter;
  const VF n = shifted - kShifter;
  VF r = x - n * 0x1.62e4p-1f;  // ln 2 in two parts, the first short enough for n times it to be exact
  r = r - n * 0x1.7f7d1cp-20f;
  const VF p = Polynomial(r, 8.290271951e-3f, 4.18981580e-2f, 1.666763812e-1f, 4.999914787e-1f, 9.999997063e-1f, 1.0f);
  return p * PowerOfTwo(shifted);
}

// 2^r for |r| <= 1/2, within 6e-6 of it: for results of 8 or 11 bits. Exact at 0.
inline VF CoarsePower(VF r) {
  return Polynomial(r, 9.67603711669e-3f, 5.60057883762e-2f, 2.40221677841e-1f, 6.93105334094e-1f, 1.0f);
}

// 2^x for results of 8 bits. Exact at whole numbers; what is below 2^-126 may be 0; 0 at -inf; a NaN stays one.
inline VF CoarseExp2(VF x) {
#if defined(__AVX512DQ__)
  const VF r = (VF)_mm512_maskz_reduce_ps(0xffff, (__m512)x, 0);
#else
  x = Max(Splat(-127.0f), x);
  const VF shifted = x + kShifter;
  const VF r = x - (shifted - kShifter);
#endif
  const VF p = CoarsePower(r);
#if defined(__AVX512DQ__)
  return (VF)_mm512_maskz_scalef_ps(0xffff, (__m512)p, (__m512)(x - r));
#else
  return p * PowerOfTwo(shifted);
#endif
}

inline VD Exp(VD x) {
  for (int i = 0; i < kBytes / 8; ++i) x[i] = std::exp(x[i]);
  return x;
}

// The upper tail of the standard normal distribution, (1 - erf(a / sqrt 2)) / 2, for 0 <= a <= kEnd, where it is 0. By way
// of its log2: no cancellation, and one polynomial for centre and tail. T is the storage type that the result is good for.
template <class T>
struct NormalTail {
  static constexpr float kEnd = 11.229f;
  static VF At(VF a) {
    const VF y = Polynomial(a, -9.0867599885e-7f, 1.50972863153e-5f, -6.51211393911e-5f, -4.41794741125e-4f,
                            7.47358538459e-3f, -5.27822719124e-2f, -4.59116797306e-1f, -1.15111470672f, -1.0f);
    const VF shifted = y + kShifter;
    const VF r = y - (shifted - kShifter);
    return PowerOfTwo(shifted) * Polynomial(r, 1.32647270536e-3f, 9.67151226806e-3f, 5.5507337399e-2f,
                                            2.40222420977e-1f, 6.93146977613e-1f, 1.0f);
  }
};

// For results of 8 or 11 bits.
struct CoarseNormalTail {
  static constexpr float kEnd = 12.132f;
  static VF At(VF a) {
    const VF y = Polynomial(a, -3.27501421539e-4f, 5.99329416634e-3f, -4.91385953793e-2f, -4.6242513195e-1f,
                            -1.15021804743f, -1.0f);
    const VF shifted = y + kShifter;
    const VF r = y - (shifted - kShifter);
    return PowerOfTwo(shifted) * CoarsePower(r);
  }
};
template <>
struct NormalTail<Bf16> : CoarseNormalTail {};
template <>
struct NormalTail<F16> : CoarseNormalTail {};

template <>
struct NormalTail<double> {
  static constexpr double kEnd = 39;
  static VD At(VD a) {
    for (int i = 0; i < kBytes / 8; ++i) a[i] = 0.5 * std::erfc(a[i] * kSqrtHalf);
    return a;
  }
};

}  // namespace
}  // namespace kk
