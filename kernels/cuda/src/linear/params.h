// What the host passes to the kernels of packed weights by value: read by nvcc and by the host's compiler.
#pragma once

#include "../../../src/linear/activation.h"

namespace kk_cuda {

constexpr int kLinearThreads = 256;
constexpr int kLinearRows = 4;  // of x, at most, that a block multiplies

struct PackedParams {
  long long weight_rows, weight_bytes, columns;
};

struct PackedLinearParams {
  PackedParams weight;
  long long rows;
  kk::Activation activation;
};

struct PackedEmbeddingParams {
  PackedParams weight;
  int wide;  // indices are i64
};

}  // namespace kk_cuda
