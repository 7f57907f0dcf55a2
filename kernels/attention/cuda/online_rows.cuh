// Rows of attention whose keys come a tile at a time: an online softmax of the scores that tensor cores leave in a lane's registers, and
// the rows' way out. A lane has rows lane / 4 and 8 later of each 16 of its warp.
#pragma once

#include "products_mma.cuh"
#include "scores.cuh"

namespace kk_cuda {

// One of the rows of a lane.
struct Row {
  float largest, total;  // of all lanes; of this lane's keys
};

// A row without keys yet, with the sink of its head.
__device__ inline Row BeginRow(const float* sinks, int head, int lane) {
  const float sink = GetSink(sinks, head);
  return {sink, (lane & 3) == 0 && sink != -kInfinity ? 1.0f : 0.0f};
}

// Where a row is, found again where it is needed: registers are scarce.
struct Rows {
  const int* lengths;
  int pair, first;  // batch and group; the lane's first row

  __device__ int Batch(const AttentionParams& p) const { return pair / p.groups; }
  __device__ RowPlace At(const AttentionParams& p, int i) const {
    return GetPlace(p, pair % p.groups, min(first + i, p.queries * p.shared - 1));
  }
  __device__ Seen SeenAt(const AttentionParams& p, int i) const {
    return SeenBy(p, GetLength(p, lengths, Batch(p)), At(p, i).query);
  }
};

// The elements of half a fragment's row: element i is key i / 2 * 8 + i % 2 after the lane's first one.
template <int kHalf, int kN, class F>
__device__ inline void ForKeys(float (&scores)[kN][4], const F& f) {
#pragma unroll
  for (int i = 0; i < kN * 2; ++i) f(scores[i / 2][2 * kHalf + i % 2], i / 2 * 8 + i % 2);
}

// kPlain: without a mask and a soft cap, and p.factor > 0: so scores are multiplied by it where the largest is subtracted. row: the
// lane's row `at` of `rows`. edge: some row of the block doesn't see some key.
template <int kHalf, bool kPlain, int kN>
__device__ inline void Weigh(float (&scores)[kN][4], Row& row, const Rows& rows, int at, const AttentionParams& p,
                             const void* mask, int key, bool edge, float* factor) {
  const int first_key = key + (threadIdx.x & 3) * 2;  // of this lane
  if (!kPlain && p.cap == 0) {
    ForKeys<kHalf>(scores, [&](float& s, int) { s *= p.factor; });
  } else if (!kPlain) {
    ForKeys<kHalf>(scores, [&](float& s, int) { s = Score(s, p.factor, p.cap); });
  }
  if (!kPlain && p.mask.kind != kNoMask) {
    const RowPlace place = rows.At(p, at);
    const long long of_row = MaskRow(p, rows.Batch(p), place.head, place.query);
    const int last = rows.SeenAt(p, at).last;
    WithMask(p.mask.kind, mask, [&](const auto* elements) {
      ForKeys<kHalf>(scores, [&](float& s, int after) {
        if (first_key + after < last) s = Masked(s, elements[of_row + (first_key + after) * p.mask.key]);
      });
    });
  }
  if (edge) {
    const Seen seen = rows.SeenAt(p, at);
    ForKeys<kHalf>(scores, [&](float& s, int after) {
      if (first_key + after < seen.first || first_key + after >= seen.last) s = -kInfinity;
    });
  }
  const float by = kPlain ? p.factor : 1;
  float largest = -kInfinity;
  ForKeys<kHalf>(scores, [&](float& s, int) { largest = fmaxf(largest, s); });
  largest = fmaxf(row.largest, QuadMax(largest) * by);
  const float origin = Origin(largest);
  *factor = Exp2(row.largest - origin);
  row.largest = largest;
  row.total *= *factor;
  ForKeys<kHalf>(scores, [&](float& s, int) {
    s = Exp2(s * by - origin);
    row.total += s;
  });
}

// Of the item of the batch, and of the heads that share keys.
struct Pair {
  int batch, group;
};

// The context and the logarithms of a block's rows from `first_row` on, of `rows`. The context goes through shared memory, in the place
// of the warp's own queries, so that 16 bytes at a time are stored: offset(r, chunk) is where a chunk of row r of the block is in `tile`.
template <int kWidth, int kM, class T, class GetOffset>
__device__ inline void StoreRows(T* tile, const float (&sums)[kM][kWidth / 8][4], const Row (&row)[kM][2],
                                 int first_row, int rows, Pair at, const int* lengths, T* out, float* lse,
                                 const AttentionParams& p, const GetOffset& offset) {
  constexpr int kOwn = 16 * kM, kChunks = kWidth / kTileChunk;
  const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
#pragma unroll
  for (int i = 0; i < kM * 2; ++i) {
    const Row& of = row[i / 2][i % 2];
    const float total = GetTotal(p, lengths, at.batch, QuadSum(of.total)), scale = total == 0 ? 0 : 1 / total;
    const int r = warp * kOwn + i * 8 + lane / 4;
#pragma unroll
    for (int n = 0; n < kWidth / 8; ++n) {
      T* const to = tile + offset(r, n) + (lane & 3) * 2;
      const float* const two = &sums[i / 2][n][i % 2 * 2];
      *reinterpret_cast<uint32_t*>(to) = PackPair<T>(two[0] * scale, two[1] * scale);
    }
    if ((lane & 3) == 0 && first_row + r < rows) {
      lse[LseRow(p, at.batch, GetPlace(p, at.group, first_row + r))] = LogSum(of.largest, total);
    }
  }
  __syncwarp();
  for (int i = lane; i < kOwn * kChunks; i += 32) {
    const int r = warp * kOwn + i / kChunks, chunk = i % kChunks;
    if (first_row + r >= rows || chunk * kTileChunk >= p.width) continue;
    const long long to = OutRow(p, at.batch, GetPlace(p, at.group, first_row + r)) * p.width + chunk * kTileChunk;
    *reinterpret_cast<uint4*>(out + to) = *reinterpret_cast<const uint4*>(tile + offset(r, chunk));
  }
}

}  // namespace kk_cuda
