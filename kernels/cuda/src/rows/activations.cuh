// Activations and their derivatives; at infinity each is its limit.
#pragma once

#include "numbers.cuh"

namespace kk_cuda {

template <class S>
__device__ inline S Silu(S x) {
  return x < S{-750} ? S{-0.0} : x / (S{1} + exp(-x));  // -inf times 0 would be a NaN
}

// With s = 1 / (1 + exp(-x)): s (1 + x (1 - s)). By way of exp(-|x|), which is at most 1.
template <class S>
__device__ inline S SiluSlope(S x) {
  const S bounded = fmax(S{-750}, fmin(S{750}, x)), e = exp(-fabs(bounded)), r = S{1} / (S{1} + e);
  const S sigmoid = bounded > 0 ? r : e * r, rest = bounded > 0 ? e * r : r;
  return x != x ? x : sigmoid * (S{1} + bounded * rest);
}

template <class S>
__device__ inline S GeluTwiceU(S x) {
  return x * (S{1.5957691216057307118} + S{0.071354816272600241} * x * x);
}

template <class S>
__device__ inline S Gelu(S x, bool tanh_form) {
  if (x < S{-40}) return S{-0.0};
  return tanh_form ? x / (S{1} + exp(-GeluTwiceU(x))) : x * normcdf(x);
}

// Phi(x) + x phi(x); of the tanh form, with s = 1 / (1 + exp(-2u)), s + x s (1 - s) d(2u)/dx.
template <class S>
__device__ inline S GeluSlope(S x, bool tanh_form) {
  if (x != x) return x;
  const S bounded = fmax(S{-64}, fmin(S{64}, x));
  if (!tanh_form) return normcdf(x) + bounded * exp(S{-0.5} * bounded * bounded) * S{0.39894228040143267794};
  const S e = exp(-fabs(GeluTwiceU(bounded))), r = S{1} / (S{1} + e);
  const S slope = S{1.5957691216057307118} + S{0.21406444881780074} * bounded * bounded;
  return (x > 0 ? r : e * r) + bounded * slope * (e * r * r);
}

template <class S>
__device__ inline S Activation(GateKind kind, S x) {
  if (kind == kRelu2) return x > 0 ? x * x : x != x ? x : S{0};
  if (kind == kSilu || kind == kSwiglu) return Silu(x);
  return Gelu(x, kind == kGeluTanh || kind == kGegluTanh);
}

template <class S>
__device__ inline S ActivationSlope(GateKind kind, S x) {
  if (kind == kRelu2) return x > 0 ? 2 * x : x != x ? x : S{0};
  if (kind == kSilu || kind == kSwiglu) return SiluSlope(x);
  return GeluSlope(x, kind == kGeluTanh || kind == kGegluTanh);
}

}  // namespace kk_cuda
