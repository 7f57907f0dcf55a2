// Results of paged_attention's kernels for paged_join: per row and part of the keys, sums and the weights' total.
#pragma once

#include "elements.cuh"
#include "scores.cuh"

namespace kk_cuda {

constexpr int kWarps = 4, kThreads = 32 * kWarps;

// The results of a block in `partial`, per row and part: sums [width], the largest score, the total of the weights.
__device__ inline float* GetPartial(float* partial, const PagedParams& p, long long row, int part) {
  return partial + (row * p.parts + part) * (p.width + 2);
}

// 0 for a length that there can't be.
__device__ inline int CountParts(const PagedParams& p, int length) {
  const bool valid = length >= p.queries && length <= p.table_size * p.page;
  return valid ? (length + kPartKeys - 1) / kPartKeys : 0;
}

// The work of a block: rows from `first_row` on of a group, and one part of the item's keys.
struct PagedBlock {
  int first_row, group, part, batch;
};
template <int kRows>
__device__ inline PagedBlock GetPagedBlock(const PagedParams& p) {
  const int blocks = (p.queries * p.shared + kRows - 1) / kRows;
  int rest = blockIdx.x;
  const int first_row = rest % blocks * kRows;
  rest /= blocks;
  const int group = rest % p.groups;
  rest /= p.groups;
  return {first_row, group, rest % p.parts, rest / p.parts};
}

// of_warps: [kWarps][kRows][kWidth + 2], sums of values, the largest score and the total of the weights of each warp's keys.
template <int kWidth, int kRows>
__device__ inline void JoinWarps(const float* of_warps, float* partial, const PagedParams& p, int batch, int group,
                                 int first_row, int part) {
  const auto of = [=](int warp, int r, int e) { return of_warps[(warp * kRows + r) * (kWidth + 2) + e]; };
  for (int i = threadIdx.x; i < kRows * kWidth; i += kThreads) {
    const int r = i / kWidth, e = i % kWidth, row = first_row + r;
    if (row >= p.queries * p.shared || e >= p.width) continue;
    float now = -kInfinity;
    for (int w = 0; w < kWarps; ++w) now = fmaxf(now, of(w, r, kWidth));
    float sum = 0, total = 0;
    for (int w = 0; w < kWarps; ++w) {
      const float factor = Exp2(of(w, r, kWidth) - Origin(now));
      sum += of(w, r, e) * factor, total += of(w, r, kWidth + 1) * factor;
    }
    const long long head = group * p.shared + row % p.shared;
    const long long out_row =
        (static_cast<long long>(batch) * p.queries + row / p.shared) * (p.groups * p.shared) + head;
    float* const to = GetPartial(partial, p, out_row, part);
    to[e] = sum;
    if (e == 0) to[p.width] = now, to[p.width + 1] = total;
  }
}

}  // namespace kk_cuda
