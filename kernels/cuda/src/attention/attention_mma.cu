// attention of f16 and bf16 by tensor cores: 64 rows of a group per block, 16 per warp, beside 64 keys at a time, with an
// online softmax in registers. While scores are made the values are copied, while values are summed up the next keys.
#include "scores.cuh"
#include "tile.cuh"

namespace kk_cuda {
namespace {

constexpr int kWarps = 4, kThreads = 32 * kWarps;
constexpr int kRows = 16 * kWarps, kKeys = 64;

// Rows [row, row + count) of a head of k or v, as far as they are before `end`; zeros for the others and beyond the width.
template <int kWidth, class T>
__device__ inline void CopyKeys(T* tile, const T* head, long long stride, int width, int row, int end) {
  constexpr int kChunks = kWidth / kChunk;
#pragma unroll
  for (int i = threadIdx.x; i < kKeys * kChunks; i += kThreads) {
    const int r = i / kChunks, chunk = i % kChunks;
    const bool there = row + r < end && chunk * kChunk < width;
    CopyChunk(tile + TileOffset<kWidth>(r, chunk), there ? head + (row + r) * stride + chunk * kChunk : head, there);
  }
}

template <int kWidth, class T>
__device__ inline void CopyQueries(T* tile, const T* q, const AttentionParams& p, int group, int first, int rows) {
  constexpr int kChunks = kWidth / kChunk;
  for (int i = threadIdx.x; i < kRows * kChunks; i += kThreads) {
    const int r = i / kChunks, chunk = i % kChunks;
    const RowPlace at = PlaceOf(p, group, first + r);
    const bool there = first + r < rows && chunk * kChunk < p.width;
    CopyChunk(tile + TileOffset<kWidth>(r, chunk),
              there ? q + at.query * p.q.row + at.head * p.q.head + chunk * kChunk : q, there);
  }
}

__device__ inline float QuadMax(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
__device__ inline float QuadSum(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

// scores[n] of a warp's 16 rows: keys 8 n and the 7 after it. The lane has rows lane / 4 (elements 0 and 1) and 8 later (2, 3).
template <int kWidth, class T>
__device__ inline void Dots(float (&scores)[kKeys / 8][4], const T* queries, const T* keys, int lane) {
#pragma unroll
  for (int n = 0; n < kKeys / 8; ++n) scores[n][0] = scores[n][1] = scores[n][2] = scores[n][3] = 0;
#pragma unroll
  for (int d = 0; d < kWidth; d += 16) {
    uint32_t a[4];
    LoadMatrices(a, queries + TileOffset<kWidth>(lane & 15, d / kChunk + (lane >> 4)));
#pragma unroll
    for (int n = 0; n < kKeys / 8; n += 2) {
      uint32_t b[4];
      LoadMatrices(b, keys + TileOffset<kWidth>(n * 8 + (lane >> 4) * 8 + (lane & 7), d / kChunk + ((lane >> 3) & 1)));
      MultiplyAdd<T>(scores[n], a, b[0], b[1]);
      MultiplyAdd<T>(scores[n + 1], a, b[2], b[3]);
    }
  }
}

// sums += weights * values.
template <int kWidth, class T>
__device__ inline void SumValues(float (&sums)[kWidth / 8][4], const float (&weights)[kKeys / 8][4], const T* values,
                                 int lane) {
#pragma unroll
  for (int j = 0; j < kKeys / 16; ++j) {
    uint32_t a[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      a[i] = PackPair<T>(weights[2 * j + i / 2][i % 2 * 2], weights[2 * j + i / 2][i % 2 * 2 + 1]);
    }
#pragma unroll
    for (int n = 0; n < kWidth / 8; n += 2) {
      uint32_t b[4];
      LoadTransposed(b, values + TileOffset<kWidth>(j * 16 + (lane & 15), n + (lane >> 4)));
      MultiplyAdd<T>(sums[n], a, b[0], b[1]);
      MultiplyAdd<T>(sums[n + 1], a, b[2], b[3]);
    }
  }
}

// One of the two rows of a lane.
struct Row {
  Seen seen;
  long long mask;
  float largest, total;  // of all lanes; of this lane's keys
};

template <int kHalf>
__device__ inline void Weigh(float (&scores)[kKeys / 8][4], Row& row, const AttentionParams& p, const void* mask,
                             int key, float* factor) {
#pragma unroll
  for (int i = 0; i < kKeys / 4; ++i) {
    float& s = scores[i / 2][2 * kHalf + i % 2];
    s = Score(s, p.factor, p.cap);
  }
  const int first_key = key + (threadIdx.x & 3) * 2;  // of this lane; element i is key i / 2 * 8 + i % 2 after it
  WithMask(p.mask.kind, mask, [&](const auto* elements) {
#pragma unroll
    for (int i = 0; i < kKeys / 4; ++i) {
      float& s = scores[i / 2][2 * kHalf + i % 2];
      const int at = first_key + i / 2 * 8 + i % 2;
      if (at < row.seen.last) s = Masked(s, elements[row.mask + at * p.mask.key]);
    }
  });
  if (key < row.seen.first || key + kKeys > row.seen.last) {
#pragma unroll
    for (int i = 0; i < kKeys / 4; ++i) {
      const int at = first_key + i / 2 * 8 + i % 2;
      if (at < row.seen.first || at >= row.seen.last) scores[i / 2][2 * kHalf + i % 2] = -kInfinity;
    }
  }
  float largest = row.largest;
#pragma unroll
  for (int i = 0; i < kKeys / 4; ++i) largest = fmaxf(largest, scores[i / 2][2 * kHalf + i % 2]);
  largest = QuadMax(largest);
  const float origin = Origin(largest);
  *factor = Exp2(row.largest - origin);
  row.largest = largest;
  row.total *= *factor;
#pragma unroll
  for (int i = 0; i < kKeys / 4; ++i) {
    float& s = scores[i / 2][2 * kHalf + i % 2];
    s = Exp2(s - origin);
    row.total += s;
  }
}

template <int kWidth, class T>
__device__ void Attention(const T* q, const T* k, const T* v, const int* lengths, const void* mask, T* out, float* lse,
                          const AttentionParams& p) {
  extern __shared__ __align__(128) unsigned char memory[];
  T* const queries = reinterpret_cast<T*>(memory);
  T* const keys = queries + kRows * kWidth;
  T* const values = keys + kKeys * kWidth;
  const int rows = p.queries * p.shared, tiles = (rows + kRows - 1) / kRows;
  // The last queries first: with `causal` they have the most keys.
  const int tile = tiles - 1 - static_cast<int>(blockIdx.x % tiles), pair = blockIdx.x / tiles;
  const int group = pair % p.groups, batch = pair / p.groups, first_row = tile * kRows;
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  q += batch * p.q.batch;
  k += batch * p.k.batch + group * p.k.head;
  v += batch * p.v.batch + group * p.v.head;
  const int length = LengthOf(p, lengths, batch);
  const int begin = SeenBy(p, length, first_row / p.shared).first / kKeys * kKeys;
  const int end = SeenBy(p, length, (min(first_row + kRows, rows) - 1) / p.shared).last;

  CopyQueries<kWidth>(queries, q, p, group, first_row, rows);
  if (begin < end) CopyKeys<kWidth>(keys, k, p.k.row, p.width, begin, end);
  CommitCopies();
  T* const own = queries + warp * 16 * kWidth;  // 16 rows: the swizzle is that of the whole tile
  Row row[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const RowPlace at = PlaceOf(p, group, min(first_row + warp * 16 + h * 8 + lane / 4, rows - 1));
    row[h] = {SeenBy(p, length, at.query), MaskRow(p, batch, at.head, at.query), -kInfinity, 0};
  }
  float sums[kWidth / 8][4] = {};
  for (int key = begin; key < end; key += kKeys) {
    WaitForCopies();
    __syncthreads();
    CopyKeys<kWidth>(values, v, p.v.row, p.width, key, end);
    CommitCopies();
    float scores[kKeys / 8][4];
    Dots<kWidth>(scores, own, keys, lane);
    float factor[2];
    Weigh<0>(scores, row[0], p, mask, key, &factor[0]);
    Weigh<1>(scores, row[1], p, mask, key, &factor[1]);
#pragma unroll
    for (int i = 0; i < kWidth / 2; ++i) sums[i / 4][i % 4] *= factor[i % 4 / 2];
    WaitForCopies();
    __syncthreads();
    if (key + kKeys < end) CopyKeys<kWidth>(keys, k, p.k.row, p.width, key + kKeys, end);
    CommitCopies();
    SumValues<kWidth>(sums, scores, values, lane);
  }
  WaitForCopies();
  __syncthreads();

  // Through shared memory, in the place of the warp's own queries, so that 16 bytes at a time are stored.
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const float total = QuadSum(row[h].total), scale = total == 0 ? 0 : 1 / total;
    const int r = warp * 16 + h * 8 + lane / 4;
#pragma unroll
    for (int n = 0; n < kWidth / 8; ++n) {
      T* const to = queries + TileOffset<kWidth>(r, n) + (lane & 3) * 2;
      *reinterpret_cast<uint32_t*>(to) = PackPair<T>(sums[n][2 * h] * scale, sums[n][2 * h + 1] * scale);
    }
    if ((lane & 3) == 0 && first_row + r < rows) {
      lse[LseRow(p, batch, PlaceOf(p, group, first_row + r))] = LogSum(row[h].largest, total);
    }
  }
  __syncwarp();
  constexpr int kChunks = kWidth / kChunk;
  for (int i = lane; i < 16 * kChunks; i += 32) {
    const int r = warp * 16 + i / kChunks, chunk = i % kChunks;
    if (first_row + r >= rows || chunk * kChunk >= p.width) continue;
    const long long to = OutRow(p, batch, PlaceOf(p, group, first_row + r)) * p.width + chunk * kChunk;
    *reinterpret_cast<uint4*>(out + to) = *reinterpret_cast<const uint4*>(queries + TileOffset<kWidth>(r, chunk));
  }
}

}  // namespace
}  // namespace kk_cuda

#define KK_ATTENTION(name, T, width)                                                                     \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kThreads)                                        \
      name(const T* q, const T* k, const T* v, const int* lengths, const void* mask, T* out, float* lse, \
           const __grid_constant__ kk_cuda::AttentionParams p) {                                         \
    kk_cuda::Attention<width>(q, k, v, lengths, mask, out, lse, p);                                      \
  }
KK_ATTENTION(attention_f16_32, __half, 32)
KK_ATTENTION(attention_f16_64, __half, 64)
KK_ATTENTION(attention_f16_128, __half, 128)
KK_ATTENTION(attention_bf16_32, __nv_bfloat16, 32)
KK_ATTENTION(attention_bf16_64, __nv_bfloat16, 64)
KK_ATTENTION(attention_bf16_128, __nv_bfloat16, 128)
