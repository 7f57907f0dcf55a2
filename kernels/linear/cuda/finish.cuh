// The steps after the products of a linear layer.
#pragma once

#include "activations/cuda/activations.cuh"
#include "params.h"

namespace kk_cuda {

template <class T>
__device__ inline float Activated(kk::Activation activation, float x) {
  if (activation == kk::Activation::kRelu) return x < 0 ? 0 : x;  // a NaN stays one
  if (activation == kk::Activation::kSilu) return Activation<T>(kSilu, x);
  if (activation == kk::Activation::kGelu) return Activation<T>(kGelu, x);
  return activation == kk::Activation::kGeluTanh ? Activation<T>(kGeluTanh, x) : x;
}

template <class T>
struct Result {
  const T *bias, *residual;  // or null
  T* out;
};

// out[row, column] = activation(sum + bias) + residual.
template <class T>
__device__ inline void Finish(float sum, const Result<T>& result, const PackedLinearParams& p, long long row,
                              long long column) {
  const long long at = row * p.weight.weight_rows + column;
  if (result.bias != nullptr) sum += Number(result.bias[column]);
  sum = Activated<T>(p.activation, sum);
  if (result.residual != nullptr) sum += Number(result.residual[at]);
  Put(sum, result.out + at);
}

}  // namespace kk_cuda
