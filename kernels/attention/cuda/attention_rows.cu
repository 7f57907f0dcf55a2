// attention of f32, and of whatever tensor cores can't read (odd widths, strides, addresses): each warp has a few rows of a
// group, beside 32 keys at a time, a lane for each. Sums are f32.
#include "elements.cuh"
#include "scores.cuh"
#include "warp.cuh"

namespace kk_cuda {
namespace {

constexpr int kWarps = 4, kThreads = 32 * kWarps, kKeys = 32;

// tile[key][kStride] of `count` keys; zeros beyond them and beyond the width.
template <int kWidth, class T>
__device__ inline void LoadKeys(float* tile, const T* from, const Strides& strides, int width, int count) {
  for (int i = threadIdx.x; i < kKeys * kWidth; i += kThreads) {
    const int r = i / kWidth, d = i % kWidth;
    tile[r * (kWidth + 1) + d] = r < count && d < width ? ToFloat(from[r * strides.row + d * strides.width]) : 0;
  }
}

// Widths up to 32 kColumns; kRows rows per warp.
template <int kColumns, int kRows, class T>
__device__ void Attention(const T* q, const T* k, const T* v, const int* lengths, const void* mask, const float* sinks,
                          T* out, float* lse, const AttentionParams& p) {
  constexpr int kWidth = 32 * kColumns, kBlockRows = kWarps * kRows;
  __shared__ float queries[kBlockRows][kWidth], tile[kKeys * (kWidth + 1)];
  const int rows = p.queries * p.shared, tiles = (rows + kBlockRows - 1) / kBlockRows;
  const int block = tiles - 1 - static_cast<int>(blockIdx.x % tiles), pair = blockIdx.x / tiles;
  const int group = pair % p.groups, batch = pair / p.groups, first_row = block * kBlockRows;
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  k += batch * p.k.batch + group * p.k.head;
  v += batch * p.v.batch + group * p.v.head;
  const int length = GetLength(p, lengths, batch);
  const int begin = SeenBy(p, length, first_row / p.shared).first;
  const int end = SeenBy(p, length, (min(first_row + kBlockRows, rows) - 1) / p.shared).last;

  Seen seen[kRows];
  long long mask_row[kRows];
  float largest[kRows], total[kRows], sums[kRows][kColumns];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const RowPlace at = GetPlace(p, group, min(first_row + warp * kRows + r, rows - 1));
    const T* const from = q + batch * p.q.batch + at.query * p.q.row + at.head * p.q.head;
    seen[r] = SeenBy(p, length, at.query);
    mask_row[r] = MaskRow(p, batch, at.head, at.query);
    largest[r] = GetSink(sinks, at.head);
    total[r] = lane == 0 && largest[r] != -kInfinity ? 1 : 0;  // a part for each lane
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const int d = c * 32 + lane;
      queries[warp * kRows + r][d] = d < p.width ? ToFloat(from[d * p.q.width]) : 0;
      sums[r][c] = 0;
    }
  }
  for (int key = begin; key < end; key += kKeys) {
    __syncthreads();
    LoadKeys<kWidth>(tile, k + key * p.k.row, p.k, p.width, end - key);
    __syncthreads();
    float weights[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) weights[r] = 0;
    for (int d = 0; d < kWidth; ++d) {
      const float of_key = tile[lane * (kWidth + 1) + d];
#pragma unroll
      for (int r = 0; r < kRows; ++r) weights[r] += queries[warp * kRows + r][d] * of_key;
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float score = Score(weights[r], p.factor, p.cap);
      const bool counts = key + lane >= seen[r].first && key + lane < seen[r].last;
      if (counts) {
        WithMask(p.mask.kind, mask, [&](const auto* elements) {
          score = Masked(score, elements[mask_row[r] + (key + lane) * p.mask.key]);
        });
      }
      score = counts ? score : -kInfinity;
      const float now = fmaxf(largest[r], WarpMax(score)), origin = Origin(now), factor = Exp2(largest[r] - origin);
      weights[r] = Exp2(score - origin);
      largest[r] = now;
      total[r] = total[r] * factor + weights[r];
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sums[r][c] *= factor;
    }
    __syncthreads();
    LoadKeys<kWidth>(tile, v + key * p.v.row, p.v, p.width, end - key);
    __syncthreads();
    for (int j = 0; j < kKeys; ++j) {
      float weight[kRows];
#pragma unroll
      for (int r = 0; r < kRows; ++r) weight[r] = __shfl_sync(~0u, weights[r], j);
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const float value = tile[j * (kWidth + 1) + c * 32 + lane];
#pragma unroll
        for (int r = 0; r < kRows; ++r) sums[r][c] += weight[r] * value;
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = first_row + warp * kRows + r;
    const float all = GetTotal(p, lengths, batch, WarpSum(total[r])), scale = all == 0 ? 0 : 1 / all;
    if (row >= rows) continue;
    const RowPlace at = GetPlace(p, group, row);
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const int d = c * 32 + lane;
      if (d < p.width) Store(sums[r][c] * scale, out + OutRow(p, batch, at) * p.width + d);
    }
    if (lane == 0) lse[LseRow(p, batch, at)] = LogSum(largest[r], all);
  }
}

}  // namespace
}  // namespace kk_cuda

// `width`: the largest one, a multiple of 32. attention_call.h has the same numbers of rows per block, 4 * rows.
#define KK_ATTENTION(name, T, width, rows)                                                                       \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kThreads, 4)                                             \
      name(const T* q, const T* k, const T* v, const int* lengths, const void* mask, const float* sinks, T* out, \
           float* lse, const __grid_constant__ kk_cuda::AttentionParams p) {                                     \
    kk_cuda::Attention<width / 32, rows>(q, k, v, lengths, mask, sinks, out, lse, p);                            \
  }
#define KK_ATTENTION_TYPES(width, rows)                         \
  KK_ATTENTION(attention_rows_f32_##width, float, width, rows)  \
  KK_ATTENTION(attention_rows_f16_##width, __half, width, rows) \
  KK_ATTENTION(attention_rows_bf16_##width, __nv_bfloat16, width, rows)
KK_ATTENTION_TYPES(64, 4)
KK_ATTENTION_TYPES(128, 4)
KK_ATTENTION_TYPES(256, 2)
