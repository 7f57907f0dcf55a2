// Parameters that the host passes to the kernels of packed weights by value: read by nvcc and by the host's compiler.
#pragma once

#include "common/everywhere.h"
#include "linear/activation.h"

namespace kk_cuda {

constexpr int kLinearThreads = 256;
constexpr int kLinearRows = 4;  // of x, at most, that a block multiplies without tensor cores

// Groups of 16 rows of the weight that a block multiplies with up to `rows` rows of x by tensor cores: more of them read x less often.
KK_EVERYWHERE constexpr int LinearGroups(int rows) { return rows <= 16 ? 1 : 2; }

// Of the kernel for sm_90: groups of a block, tiles of 64 columns that are in shared memory at once, bytes that it has there of a block of
// a group with its tail; threads: two groups of four warps multiply, one copies.
constexpr int kLinearSm90Groups = 4, kLinearSm90Stages = 8, kLinearSm90Slot = 640, kLinearSm90Threads = 384;

// Bytes of shared memory, with the barriers, for `rows` rows of x.
KK_EVERYWHERE constexpr int LinearSm90Bytes(int rows) {
  return kLinearSm90Stages * (rows * 64 * 2 + 2 * (kLinearSm90Groups * kLinearSm90Slot + rows * 4) + 3 * 8);
}

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
