// The gradient of a row of softmax.
#pragma once

#include "common/cuda/block.cuh"

namespace kk_cuda {

// half(i): half the gradient of element i, (d_probs - sum(d_probs * probs)) * probs. The difference of large numbers of opposite sign may
// overflow, that of their halves can't.
template <class T>
__device__ inline auto ComputeHalfGradient(const T* d_probs, const T* probs, int width) {
  using S = Compute<T>;
  const auto half = [=](int i) { return S{0.5} * Number(d_probs[i]); };
  const S dot = RowSum<S>(width, [&](int i) { return half(i) * Number(probs[i]); });
  return [=](int i) { return (half(i) - dot) * Number(probs[i]); };
}

}  // namespace kk_cuda
