// paged_attention of f16 and bf16 by tensor cores: each block has 16 rows of a group and one part of the item's keys, of which each
// warp takes 32 at a time. Few of the rows may be there: reading the cache is what takes time.
#include "products_mma.cuh"
#include "paged.cuh"

namespace kk_cuda {
namespace {

constexpr int kRows = 16, kKeys = 32;  // of a block; of a warp at a time
constexpr long long kNowhere = -1;

template <int kWidth, class T>
__device__ void Paged(const T* q, const T* k, const T* v, const int* tables, const int* lengths, float* partial,
                      const PagedParams& p) {
  extern __shared__ __align__(256) unsigned char memory[];
  constexpr int kTile = kKeys * kWidth, kChunks = kWidth / kTileChunk;
  T* const queries = reinterpret_cast<T*>(memory);
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  T* const keys = queries + kRows * kWidth + warp * 2 * kTile;
  T* const values = keys + kTile;
  const int rows = p.queries * p.shared;
  const PagedBlock block = GetPagedBlock<kRows>(p);
  const int first_row = block.first_row, group = block.group, part = block.part, batch = block.batch;
  const int length = lengths[batch];
  if (part >= CountParts(p, length)) return;

  const auto seen_by = [&](int row) {
    const int at = length - p.queries + min(row, rows - 1) / p.shared;
    return Seen{p.window > 0 ? max(0, at - p.window + 1) : 0, at + 1};
  };
  const int begin = max(part * kPartKeys, seen_by(first_row).first);
  const int end = min((part + 1) * kPartKeys, seen_by(first_row + kRows - 1).last);
  CopyTile<kWidth, kRows>(queries, q, p.width, [&](int r) {
    const int row = first_row + r;
    return row < rows
               ? q + batch * p.q.batch + row / p.shared * p.q.row + (group * p.shared + row % p.shared) * p.q.head
               : nullptr;
  });
  CommitCopies();
  WaitForCopies();
  __syncthreads();

  float largest[2] = {-kInfinity, -kInfinity}, total[2] = {};
  float sums[1][kWidth / 8][4] = {};
  for (int key = begin + warp * kKeys; key < end; key += kWarps * kKeys) {
    // Each lane finds the place of one key.
    const int own = key + lane;
    const int entry = own < end ? tables[static_cast<long long>(batch) * p.table_size + own / p.page] : 0;
    const bool known = entry >= 0 && entry < p.pages;
    const unsigned unknown = __ballot_sync(~0u, !known);
    const bool there = own < end && known;
    const int row = own % p.page;
    const long long of_key = there ? entry * p.k.batch + row * p.k.row + group * p.k.head : kNowhere;
    const long long of_value = there ? entry * p.v.batch + row * p.v.row + group * p.v.head : kNowhere;
    __syncwarp();  // what the tiles held has been read
#pragma unroll 4
    for (int i = lane; i < kKeys * kChunks; i += 32) {
      const int r = i / kChunks, chunk = i % kChunks;
      const long long from_k = __shfl_sync(~0u, of_key, r), from_v = __shfl_sync(~0u, of_value, r);
      const bool copied = from_k != kNowhere && chunk * kTileChunk < p.width;
      CopyChunk(keys + TileOffset<kWidth>(r, chunk), copied ? k + from_k + chunk * kTileChunk : k, copied);
      CopyChunk(values + TileOffset<kWidth>(r, chunk), copied ? v + from_v + chunk * kTileChunk : v, copied);
    }
    CommitCopies();
    WaitForCopies();
    __syncwarp();
    float scores[1][kKeys / 8][4];
    Dots<kWidth>(scores, queries, keys, lane);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Seen seen = seen_by(first_row + half * 8 + lane / 4);
      float now = largest[half];
#pragma unroll
      for (int i = 0; i < kKeys / 4; ++i) {
        float& s = scores[0][i / 2][2 * half + i % 2];
        const int after = i / 2 * 8 + (lane & 3) * 2 + i % 2, at = key + after;
        const bool counts = at >= seen.first && at < seen.last && at < end;
        s = counts ? (unknown >> after & 1 ? kNan : Score(s, p.factor, p.cap)) : -kInfinity;
        now = fmaxf(now, s);
      }
      now = QuadMax(now);
      const float origin = Origin(now), factor = Exp2(largest[half] - origin);
      largest[half] = now;
      total[half] *= factor;
#pragma unroll
      for (int i = 0; i < kKeys / 4; ++i) {
        float& s = scores[0][i / 2][2 * half + i % 2];
        s = Exp2(s - origin);
        total[half] += s;
      }
#pragma unroll
      for (int i = 0; i < kWidth / 4; ++i) sums[0][i / 2][2 * half + i % 2] *= factor;
    }
    AddProduct<kWidth>(sums, scores, values, lane);
  }

  __syncthreads();  // tiles and queries have been read
  float* const of_warps = reinterpret_cast<float*>(memory);
  float* const mine = of_warps + warp * kRows * (kWidth + 2);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float* const row = mine + (half * 8 + lane / 4) * (kWidth + 2);
    const float of_row = QuadSum(total[half]);
#pragma unroll
    for (int i = 0; i < kWidth / 4; ++i) row[i / 2 * 8 + (lane & 3) * 2 + i % 2] = sums[0][i / 2][2 * half + i % 2];
    if ((lane & 3) == 0) row[kWidth] = largest[half], row[kWidth + 1] = of_row;
  }
  __syncthreads();
  JoinWarps<kWidth, kRows>(of_warps, partial, p, batch, group, first_row, part);
}

}  // namespace
}  // namespace kk_cuda

#define KK_PAGED(name, T, width)                                                                      \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kThreads, 3)                                  \
      name(const T* q, const T* k, const T* v, const int* tables, const int* lengths, float* partial, \
           const __grid_constant__ kk_cuda::PagedParams p) {                                          \
    kk_cuda::Paged<width>(q, k, v, tables, lengths, partial, p);                                      \
  }
#define KK_PAGED_WIDTHS(name, T)         \
  KK_PAGED(paged_mma_##name##_32, T, 32) \
  KK_PAGED(paged_mma_##name##_64, T, 64) \
  KK_PAGED(paged_mma_##name##_128, T, 128)
KK_PAGED_WIDTHS(f16, __half)
KK_PAGED_WIDTHS(bf16, __nv_bfloat16)
