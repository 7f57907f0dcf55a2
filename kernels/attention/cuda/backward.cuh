// Code that the gradients of attention share: rows in shared memory, and the gradient of a score.
#pragma once

#include "elements.cuh"
#include "scores.cuh"
#include "warp.cuh"

namespace kk_cuda {

constexpr int kWarps = 4, kLanes = 32;  // a lane for each of so many queries or keys of a tile

// Where a query of a head begins, in elements: in q; in d_context, context and d_q; in lse and delta; in the mask.
struct Query {
  long long of_q, out, lse, mask;
  Seen seen;
};

__device__ inline Query LoadQuery(const AttentionParams& p, int batch, int group, int length, int row) {
  const RowPlace at = GetPlace(p, group, row);
  return {batch * p.q.batch + at.query * p.q.row + at.head * p.q.head, OutRow(p, batch, at) * p.width,
          LseRow(p, batch, at), MaskRow(p, batch, at.head, at.query), SeenBy(p, length, at.query)};
}

// The values of a query and a key: the weight, d_score, and d_score times the slope of the score by the dot product.
struct Gradient {
  float weight, of_score, of_dot;
};

// lse: +inf for a query without keys. Scores are in powers of two.
__device__ inline Gradient ComputeGradient(const AttentionParams& p, const void* mask, const Query& query, int key,
                                           float dot, float d_weight, float lse, float delta) {
  if (key < query.seen.first || key >= query.seen.last || lse == kInfinity) return {0, 0, 0};
  float score = Score(dot, p.factor, p.cap);
  // The natural score's slope: `factor` and `cap` have log2(e) in them, beside a cap `factor` hasn't.
  const float part = p.cap == 0 ? 0 : score / p.cap;
  const float slope = p.cap == 0 ? p.factor * kLn2 : (1 - part * part) * p.factor * p.cap * kLn2;
  WithMask(p.mask.kind, mask,
           [&](const auto* elements) { score = Masked(score, elements[query.mask + key * p.mask.key]); });
  const float weight = Exp2(score - lse * kLog2E), of_score = weight * (d_weight - delta);
  return {weight, of_score, of_score * slope};
}

// Rows of `width` elements in shared memory, zeros beyond it: a lane reads its own row, or all lanes a column each.
template <int kWidth>
struct Tile {
  float* at;
  __device__ float* Row(int r) const { return at + r * (kWidth + 1); }
};

template <int kWidth, class T>
__device__ inline void LoadRow(const Tile<kWidth>& tile, int r, const T* from, long long step, int width, bool there) {
  for (int d = threadIdx.x % 32; d < kWidth; d += 32) {
    tile.Row(r)[d] = there && d < width ? ToFloat(from[d * step]) : 0;
  }
}

// The dots of one row with the lane's row of a tile.
template <int kWidth>
__device__ inline float Dot(const float* row, const float* of_lane) {
  float sum = 0;
#pragma unroll 8
  for (int d = 0; d < kWidth; ++d) sum += row[d] * of_lane[d];
  return sum;
}

}  // namespace kk_cuda
