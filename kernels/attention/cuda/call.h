// Code that the host halves of the attention kernels share.
#pragma once

#include <cmath>
#include <optional>

#include "common/cuda/call.h"
#include "params.h"

namespace kk_cuda {

inline ElementKind GetElementKind(kp::DType dtype) {
  if (dtype == kp::dtype_of<float>) return kF32;
  return dtype == kp::dtype_of<kp::half> ? kF16 : kBf16;
}

// Of [batch, rows, heads, width].
inline Strides GetStrides(kp::TensorView x) { return {x.stride(0), x.stride(1), x.stride(2), x.stride(3)}; }

// True if each row of a head begins at a multiple of `bytes`, and its size is a multiple of `bytes`.
inline bool HasChunks(kp::TensorView x, int64_t bytes) {
  const int64_t chunk = bytes / x.itemsize();
  for (int64_t d = 0; d < 3; ++d) {
    if (x.size(d) > 1 && x.stride(d) % chunk != 0) return false;
  }
  return x.size(3) % chunk == 0 && x.stride(3) == 1 &&
         reinterpret_cast<uintptr_t>(x.data_ptr()) % static_cast<uintptr_t>(bytes) == 0;
}

inline int GetWidth(kp::TensorView q) {
  KP_CHECK(q.size(3) > 0 && q.size(3) <= 256, ValueError)
      << "q: expected heads of 1 to 256 elements on a CUDA device, got " << q.size(3);
  return static_cast<int>(q.size(3));
}

// Score() of scores.cuh: powers of two, with the soft cap where there is one.
inline void SetScores(std::optional<double> scale, int64_t width, double soft_cap, float* factor, float* cap) {
  constexpr double kLog2E = 1.4426950408889634;
  KP_CHECK(soft_cap >= 0, ValueError) << "soft_cap: expected a positive number, or 0 for none, got " << soft_cap;
  const double by = scale.value_or(1 / std::sqrt(static_cast<double>(width)));
  const double at =
      soft_cap > 0x1p100 ? 0 : soft_cap;  // so large it changes no score, and the quotient would lose digits
  *factor = static_cast<float>(at > 0 ? by / at : by * kLog2E);
  *cap = static_cast<float>(at * kLog2E);
}

}  // namespace kk_cuda
