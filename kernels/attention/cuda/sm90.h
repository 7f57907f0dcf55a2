// Sizes of the attention kernel for sm_90: read by nvcc and by the host's compiler.
#pragma once

namespace kk_cuda {

// Rows of a block, keys of a tile, tiles of keys and of values that are in shared memory at once; threads: eight warps multiply, one
// of four others copies.
constexpr int kSm90Rows = 128, kSm90Keys = 128, kSm90Stages = 2, kSm90Threads = 384;

// Queries of a tile of the gradient.
constexpr int kSm90Queries = 64;

// Bytes of shared memory of the gradient: keys and values, stages of queries and d_context, gradients of scores, d_q, numbers of queries.
template <int kWidth>
constexpr int kSm90BackwardBytes = (2 * kSm90Keys + (2 * kSm90Stages + 2) * kSm90Queries) * kWidth * 2 +
                                   2 * kSm90Keys * kSm90Queries * 2 + 4 * kSm90Queries * 4 + 128;

// Bytes of shared memory, of 16-bit numbers, with the barriers.
template <int kWidth>
constexpr int kSm90Bytes = (kSm90Rows + 2 * kSm90Stages * kSm90Keys) * kWidth * 2 + 128;

}  // namespace kk_cuda
