// attention of f16 and bf16 by tensor cores: 16 or 32 rows of a group per warp, beside 64 keys at a time, with an online softmax in
// registers. While scores are made the values are copied, while values are summed up the next keys.
#include "online_rows.cuh"

namespace kk_cuda {
namespace {

// Keys at a time. Compiled for sm_100 and newer, sums of 128 columns and scores of 64 keys beside them don't fit the registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr int kKeysBeside128 = 32;
#else
constexpr int kKeysBeside128 = 64;
#endif
template <int kWidth, bool kPlain>
constexpr int kKeysOf = kPlain && kWidth == 128 ? kKeysBeside128 : 64;

template <int kWidth, int kM, bool kPlain, class T>
__device__ void Attention(const T* q, const T* k, const T* v, const int* lengths, const void* mask, const float* sinks,
                          T* out, float* lse, const AttentionParams& p) {
  constexpr int kOwn = 16 * kM, kRows = kOwn * kMmaThreads / 32;  // of a warp, of a block
  constexpr int kKeys = kKeysOf<kWidth, kPlain>;
  extern __shared__ __align__(256) unsigned char memory[];
  T* const queries = reinterpret_cast<T*>(memory);
  T* const keys = queries + kRows * kWidth;
  T* const values = keys + kKeys * kWidth;
  const int rows = p.queries * p.shared, tiles = (rows + kRows - 1) / kRows;
  // The last queries first: with `causal` they have the most keys.
  const int tile = tiles - 1 - static_cast<int>(blockIdx.x % tiles), pair = blockIdx.x / tiles;
  const int group = pair % p.groups, batch = pair / p.groups, first_row = tile * kRows;
  const int warp = threadIdx.x / 32;
  int lane = threadIdx.x & 31;
  q += batch * p.q.batch;
  const int length = GetLength(p, lengths, batch);
  const Seen earliest = SeenBy(p, length, first_row / p.shared);
  const Seen latest = SeenBy(p, length, (min(first_row + kRows, rows) - 1) / p.shared);
  const int begin = earliest.first / kKeys * kKeys, end = latest.last;
  // Zeros for the keys from `end` on.
  const auto copy = [&](T* to, const T* of, const Strides& by, int key) {
    const T* const head = of + batch * by.batch + group * by.head;
    CopyRows<kWidth, kKeys>(to, head + key * by.row, by.row, p.width, end - key);
    CommitCopies();
  };

  CopyTile<kWidth, kRows>(queries, q, p.width, [&](int r) {
    const RowPlace at = GetPlace(p, group, first_row + r);
    return first_row + r < rows ? q + at.query * p.q.row + at.head * p.q.head : nullptr;
  });
  copy(keys, k, p.k, begin);
  T* const own = queries + warp * kOwn * kWidth;  // a multiple of 16 rows: the swizzle is that of the whole tile
  const Rows places = {lengths, pair, first_row + warp * kOwn + lane / 4};
  Row row[kM][2];
#pragma unroll
  for (int i = 0; i < kM * 2; ++i) row[i / 2][i % 2] = BeginRow(sinks, places.At(p, 8 * i).head, lane);
  float sums[kM][kWidth / 8][4] = {};
  for (int key = begin; key < end; key += kKeys) {
    if (kM * kWidth == 256) KeepAddressesOut(lane);
    WaitForCopies();
    __syncthreads();
    copy(values, v, p.v, key);
    float scores[kM][kKeys / 8][4];
    Dots<kWidth>(scores, own, keys, lane);
    const bool edge = key < latest.first || key + kKeys > earliest.last;
#pragma unroll
    for (int m = 0; m < kM; ++m) {
      float factor[2];
      Weigh<0, kPlain>(scores[m], row[m][0], places, 16 * m, p, mask, key, edge, &factor[0]);
      Weigh<1, kPlain>(scores[m], row[m][1], places, 16 * m + 8, p, mask, key, edge, &factor[1]);
      if (__all_sync(~0u, factor[0] == 1 && factor[1] == 1)) continue;  // no larger score has come
#pragma unroll
      for (int i = 0; i < kWidth / 2; ++i) sums[m][i / 4][i % 4] *= factor[i % 4 / 2];
    }
    WaitForCopies();
    __syncthreads();
    if (key + kKeys < end) copy(keys, k, p.k, key + kKeys);
    AddProduct<kWidth>(sums, scores, values, lane);
  }
  WaitForCopies();
  __syncthreads();

  StoreRows<kWidth>(queries, sums, row, first_row, rows, {batch, group}, lengths, out, lse, p,
                    [](int r, int chunk) { return TileOffset<kWidth>(r, chunk); });
}

}  // namespace
}  // namespace kk_cuda

#define KK_ATTENTION(name, T, width, m, plain)                                                                   \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kMmaThreads, 2)                                          \
      name(const T* q, const T* k, const T* v, const int* lengths, const void* mask, const float* sinks, T* out, \
           float* lse, const __grid_constant__ kk_cuda::AttentionParams p) {                                     \
    kk_cuda::Attention<width, m, plain>(q, k, v, lengths, mask, sinks, out, lse, p);                             \
  }
#define KK_ATTENTIONS(name, T, width)                          \
  KK_ATTENTION(attention_##name##_##width, T, width, 1, false) \
  KK_ATTENTION(attention_plain_##name##_##width, T, width, 2, true)
KK_ATTENTIONS(f16, __half, 32)
KK_ATTENTIONS(f16, __half, 64)
KK_ATTENTIONS(f16, __half, 128)
KK_ATTENTIONS(bf16, __nv_bfloat16, 32)
KK_ATTENTIONS(bf16, __nv_bfloat16, 64)
KK_ATTENTIONS(bf16, __nv_bfloat16, 128)
