// attention of f16 and bf16 for sm_90, without a mask and a soft cap. A warp copies tiles of 128 keys and values by tensor maps, ahead of
// two groups of four warps, which multiply them by wgmma: 64 rows of a group each. While a group's weights are made of one tile's scores,
// its tensor cores sum up the values of the tile before.
#include "online_rows.cuh"
#include "sm90.cuh"

namespace kk_cuda {
namespace {

// The shared memory of a block: the host reserves kSm90Bytes<kWidth>.
template <int kWidth, class T>
struct Ring {
  T queries[kSm90Rows * kWidth];
  T keys[kSm90Stages][kSm90Keys * kWidth], values[kSm90Stages][kSm90Keys * kWidth];
  uint64_t full_keys[kSm90Stages], empty_keys[kSm90Stages], full_values[kSm90Stages], empty_values[kSm90Stages];
};

// Which keys the block's tiles have: `count` tiles from `begin` on, and none from `end` on.
struct Tiles {
  int begin, end, count;
};

// One thread.
template <int kWidth, class T>
__device__ inline void Produce(Ring<kWidth, T>& ring, const TensorMap& k, const TensorMap& v, const Tiles& tiles,
                               Pair at) {
  const auto copy = [&](T* to, const TensorMap& from, int key, uint64_t* empty, uint64_t* full, int parity) {
    Await(empty, parity ^ 1);
    ArriveExpecting(full, kSm90Keys * kWidth * sizeof(T));
    CopyColumns<kWidth, kSm90Keys>(to, from, key, at.group, at.batch, full);
  };
  for (int i = 0; i < tiles.count; ++i) {
    const int s = i % kSm90Stages, parity = i / kSm90Stages & 1, key = tiles.begin + i * kSm90Keys;
    copy(ring.keys[s], k, key, &ring.empty_keys[s], &ring.full_keys[s], parity);
    copy(ring.values[s], v, key, &ring.empty_values[s], &ring.full_values[s], parity);
  }
}

template <int kWidth, class T>
__device__ inline void Consume(Ring<kWidth, T>& ring, const Tiles& tiles, const T* q, const int* lengths,
                               const float* sinks, T* out, float* lse, int first_row, Pair at,
                               const AttentionParams& p) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x & 31, own_group = warp / 4;
  const int rows = p.queries * p.shared, group_row = first_row + own_group * kGroupRows;
  T* const own = ring.queries + own_group * kGroupRows * kSwizzled;
  for (int i = threadIdx.x % 128; i < kGroupRows * kWidth / kTileChunk; i += 128) {
    const int r = i / (kWidth / kTileChunk), chunk = i % (kWidth / kTileChunk);
    const bool there = group_row + r < rows && chunk * kTileChunk < p.width;
    const RowPlace place = GetPlace(p, at.group, min(group_row + r, rows - 1));
    CopyChunk(own + ColumnsOffset<kSm90Rows>(r, chunk),
              there ? q + at.batch * p.q.batch + place.query * p.q.row + place.head * p.q.head + chunk * kTileChunk : q,
              there);
  }
  CommitCopies();
  WaitForCopies();
  PublishWrites();
  SyncSome(2 + own_group, 128);

  const int length = GetLength(p, lengths, at.batch);
  const Seen earliest = SeenBy(p, length, min(group_row, rows - 1) / p.shared);
  const Seen latest = SeenBy(p, length, (min(group_row + kGroupRows, rows) - 1) / p.shared);
  const Rows places = {lengths, at.batch * p.groups + at.group, first_row + warp * 16 + lane / 4};
  Row row[1][2];
#pragma unroll
  for (int i = 0; i < 2; ++i) row[0][i] = BeginRow(sinks, places.At(p, 8 * i).head, lane);
  float sums[1][kWidth / 8][4] = {};
  float scores[kSm90Keys / 8][4] = {};
  uint32_t weights[kSm90Keys / 16][4];
  // Of the tile with number i.
  const auto begin_scores = [&](int i) {
    Await(&ring.full_keys[i % kSm90Stages], i / kSm90Stages & 1);
    BeginDots<kWidth, kSm90Rows, kSm90Keys>(scores, own, ring.keys[i % kSm90Stages]);
  };
  const auto weigh = [&](int i, float(&factor)[2]) {
    Pin(scores);
    if (lane == 0) Arrive(&ring.empty_keys[i % kSm90Stages]);
    const int key = tiles.begin + i * kSm90Keys;
    const bool edge = key < latest.first || key + kSm90Keys > earliest.last;
    Weigh<0, true>(scores, row[0][0], places, 0, p, nullptr, key, edge, &factor[0]);
    Weigh<1, true>(scores, row[0][1], places, 8, p, nullptr, key, edge, &factor[1]);
  };
  const auto await_values = [&](int i) { Await(&ring.full_values[i % kSm90Stages], i / kSm90Stages & 1); };
  float factor[2];
  if (tiles.count > 0) {
    begin_scores(0);
    WaitForProducts<0>();
    weigh(0, factor);  // of sums that are 0
    PackRows<T>(weights, scores);
  }
  for (int i = 1; i < tiles.count; ++i) {
    begin_scores(i);
    await_values(i - 1);
    BeginSums<kWidth, kSm90Keys>(sums[0], weights, ring.values[(i - 1) % kSm90Stages]);
    WaitForProducts<1>();
    weigh(i, factor);
    WaitForProducts<0>();
    Pin(sums[0]);
    if (lane == 0) Arrive(&ring.empty_values[(i - 1) % kSm90Stages]);
    if (!__all_sync(~0u, factor[0] == 1 && factor[1] == 1)) {  // a larger score has come
#pragma unroll
      for (int n = 0; n < kWidth / 2; ++n) sums[0][n / 4][n % 4] *= factor[n % 4 / 2];
    }
    PackRows<T>(weights, scores);
  }
  if (tiles.count > 0) {
    const int last = tiles.count - 1, there = tiles.end - (tiles.begin + last * kSm90Keys);
    T* const values = ring.values[last % kSm90Stages];
    await_values(last);
    // Weights of keys that no row of the block sees are 0, but the values may be NaN.
    if (there < kSm90Keys && tiles.end < p.keys) ClearRows<kWidth, kSm90Keys>(values, there);
    BeginSums<kWidth, kSm90Keys>(sums[0], weights, values);
    WaitForProducts<0>();
    Pin(sums[0]);
  }
  // Results take the place of the group's queries, which its warps have read.
  SyncSome(2 + own_group, 128);
  StoreRows<kWidth>(ring.queries, sums, row, first_row, rows, at, lengths, out, lse, p, ColumnsOffset<kSm90Rows>);
}

template <int kWidth, class T>
__device__ void AttentionSm90(const T* q, const TensorMap& k, const TensorMap& v, const int* lengths,
                              const float* sinks, T* out, float* lse, const AttentionParams& p) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Ring<kWidth, T>& ring = *reinterpret_cast<Ring<kWidth, T>*>(memory);
  static_assert(sizeof(Ring<kWidth, T>) <= kSm90Bytes<kWidth>, "the host reserves as much");
  const int rows = p.queries * p.shared, blocks = (rows + kSm90Rows - 1) / kSm90Rows;
  // The last queries first: with `causal` they have the most keys.
  const int block = blocks - 1 - static_cast<int>(blockIdx.x % blocks), pair = blockIdx.x / blocks;
  const Pair at = {pair / p.groups, pair % p.groups};
  const int first_row = block * kSm90Rows, length = GetLength(p, lengths, at.batch);
  const int begin = SeenBy(p, length, first_row / p.shared).first / kSm90Keys * kSm90Keys;
  const int end = SeenBy(p, length, (min(first_row + kSm90Rows, rows) - 1) / p.shared).last;
  const Tiles tiles = {begin, end, max(end - begin + kSm90Keys - 1, 0) / kSm90Keys};
  if (threadIdx.x == 0) {
    PrefetchMap(k);
    PrefetchMap(v);
    for (int s = 0; s < kSm90Stages; ++s) {
      InitBarrier(&ring.full_keys[s], 1);
      InitBarrier(&ring.full_values[s], 1);
      InitBarrier(&ring.empty_keys[s], kConsumers / 32);
      InitBarrier(&ring.empty_values[s], kConsumers / 32);
    }
    PublishBarriers();
  }
  __syncthreads();
  if (threadIdx.x >= kConsumers) {
    GiveRegistersBack<kProducerRegisters>();
    if (threadIdx.x == kConsumers) Produce(ring, k, v, tiles, at);
  } else {
    TakeRegisters<kConsumerRegisters>();
    Consume(ring, tiles, q, lengths, sinks, out, lse, first_row, at, p);
  }
}

}  // namespace
}  // namespace kk_cuda

#define KK_ATTENTION_SM90(name, T, width)                                                                     \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kSm90Threads, 1) attention_sm90_##name##_##width(     \
      const T* q, const __grid_constant__ kk_cuda::TensorMap k, const __grid_constant__ kk_cuda::TensorMap v, \
      const int* lengths, const float* sinks, T* out, float* lse,                                             \
      const __grid_constant__ kk_cuda::AttentionParams p) {                                                   \
    kk_cuda::AttentionSm90<width>(q, k, v, lengths, sinks, out, lse, p);                                      \
  }
KK_ATTENTION_SM90(bf16, __nv_bfloat16, 64)
KK_ATTENTION_SM90(bf16, __nv_bfloat16, 128)
KK_ATTENTION_SM90(f16, __half, 64)
KK_ATTENTION_SM90(f16, __half, 128)
