// Activations and their derivatives; at infinity each is its limit. T: the type of the elements. What is rounded to 16 bits takes faster
// functions, whose relative errors are below 2e-6.
#pragma once

#include "activations/cuda/gates.h"
#include "common/cuda/numbers.cuh"

namespace kk_cuda {

template <class T>
constexpr bool kIs16Bits = sizeof(T) == 2;

template <class T, class S>
__device__ inline S Exp(S x) {
  if constexpr (kIs16Bits<T>) return __expf(x);
  return exp(x);
}
template <class T, class S>
__device__ inline S Quotient(S x, S y) {
  if constexpr (kIs16Bits<T>) return __fdividef(x, y);  // 0 where y is beyond 2^126
  return x / y;
}

template <class T, class S>
__device__ inline S Silu(S x) {
  return x < S{kIs16Bits<T> ? -80 : -750} ? S{-0.0} : Quotient<T>(x, S{1} + Exp<T>(-x));  // -inf times 0 would be a NaN
}

// With s = 1 / (1 + exp(-x)): s (1 + x (1 - s)). By way of exp(-|x|), which is at most 1.
template <class T, class S>
__device__ inline S SiluSlope(S x) {
  const S bounded = fmax(S{-750}, fmin(S{750}, x)), e = Exp<T>(-fabs(bounded)), r = Quotient<T>(S{1}, S{1} + e);
  const S sigmoid = bounded > 0 ? r : e * r, rest = bounded > 0 ? e * r : r;
  return x != x ? x : sigmoid * (S{1} + bounded * rest);
}

template <class T, class S>
__device__ inline S ReluSquared(S x) {
  return x > 0 ? x * x : x != x ? x : S{0};
}
template <class T, class S>
__device__ inline S ReluSquaredSlope(S x) {
  return x > 0 ? 2 * x : x != x ? x : S{0};
}

template <class S>
__device__ inline S GeluTwiceU(S x) {
  return x * (S{1.5957691216057307118} + S{0.071354816272600241} * x * x);
}

// Phi and phi of the normal distribution.
template <class S>
struct Normal {
  S cumulative, density;
};

// erfc(z) by a rational Chebyshev fit, of a relative error below 1.2e-7 (W. H. Press et al., "Numerical Recipes", erfcc).
__device__ inline Normal<float> NormalOf16Bits(float x) {
  const float z = fabsf(x) * 0.70710678f, t = __fdividef(1.0f, 1 + 0.5f * z);
  float fit = 0.17087277f;
  constexpr float kFit[] = {-0.82215223f, 1.48851587f, -1.13520398f, 0.27886807f, -0.18628806f,
                            0.09678418f,  0.37409196f, 1.00002368f,  -1.26551223f};
#pragma unroll
  for (int i = 0; i < 9; ++i) fit = fit * t + kFit[i];
  const float tail = 0.5f * t * __expf(fit - z * z);  // of one side
  return {x > 0 ? 1 - tail : tail, 0.39894228f * __expf(-z * z)};
}
template <class T, class S>
__device__ inline Normal<S> ComputeNormal(S x) {
  if constexpr (kIs16Bits<T>) return NormalOf16Bits(x);
  return {normcdf(x), exp(S{-0.5} * x * x) * S{0.39894228040143267794}};
}

template <class T, class S>
__device__ inline S Gelu(S x, bool tanh_form) {
  if (x < S{-40}) return S{-0.0};
  if (tanh_form) {
    const S e = Exp<T>(-GeluTwiceU(x));
    return kIs16Bits<T> && e > S{1e37} ? S{-0.0} : Quotient<T>(x, S{1} + e);
  }
  return x * (kIs16Bits<T> ? ComputeNormal<T>(x).cumulative : normcdf(x));
}

// Phi(x) + x phi(x); of the tanh form, with s = 1 / (1 + exp(-2u)), s + x s (1 - s) d(2u)/dx.
template <class T, class S>
__device__ inline S GeluSlope(S x, bool tanh_form) {
  if (x != x) return x;
  const S bounded = fmax(S{-64}, fmin(S{64}, x));
  if (!tanh_form) {
    const Normal<S> normal = ComputeNormal<T>(bounded);
    return normal.cumulative + bounded * normal.density;
  }
  const S e = Exp<T>(-fabs(GeluTwiceU(bounded))), r = Quotient<T>(S{1}, S{1} + e);
  const S slope = S{1.5957691216057307118} + S{0.21406444881780074} * bounded * bounded;
  return (x > 0 ? r : e * r) + bounded * slope * (e * r * r);
}

// With a = exp(-|x|), which is at most 1, tanh(log(1 + exp(x))) is a (a + 2) / (a (a + 2) + 2); for positive x it is
// (1 + 2a) / (1 + 2a + 2a^2).
template <class T, class S>
__device__ inline S Mish(S x) {
  if (x < S{kIs16Bits<T> ? -80 : -750}) return S{-0.0};
  const S a = Exp<T>(-fabs(x)), over = x > 0 ? S{1} + 2 * a : a * (a + 2);
  return x * Quotient<T>(over, over + (x > 0 ? 2 * a * a : S{2}));
}
template <class T, class S>
__device__ inline S MishSlope(S x) {
  const S bounded = fmax(S{-750}, fmin(S{750}, x)), a = Exp<T>(-fabs(bounded));
  const S over = bounded > 0 ? S{1} + 2 * a : a * (a + 2);
  const S r = Quotient<T>(S{1}, over + (bounded > 0 ? 2 * a * a : S{2}));
  return x != x ? x : over * r + bounded * (bounded > 0 ? a * a : a) * (a + 1) * 4 * r * r;
}

template <class T, class S>
__device__ inline S Activation(GateKind kind, S x) {
  switch (kind) {
#define KK_CASE(op, Name, text) \
  case k##Name:                 \
    return Name<T>(x);
    KK_ROW_ACTIVATIONS(KK_CASE)
#undef KK_CASE
    case kSwiglu:
      return Silu<T>(x);
    default:
      return Gelu<T>(x, kind == kGeluTanh || kind == kGegluTanh);
  }
}

template <class T, class S>
__device__ inline S ActivationSlope(GateKind kind, S x) {
  switch (kind) {
#define KK_CASE(op, Name, text) \
  case k##Name:                 \
    return Name##Slope<T>(x);
    KK_ROW_ACTIVATIONS(KK_CASE)
#undef KK_CASE
    case kSwiglu:
      return SiluSlope<T>(x);
    default:
      return GeluSlope<T>(x, kind == kGeluTanh || kind == kGegluTanh);
  }
}

}  // namespace kk_cuda
