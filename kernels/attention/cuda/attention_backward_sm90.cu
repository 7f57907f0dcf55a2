// The gradient of attention of f16 and bf16 for sm_90, without a mask and a soft cap, by 5 products; the formulas are
// attention_backward.cu's. A block has 128 keys, past which tiles of 64 queries go: two groups of four warps have 64 keys each, whose sums
// of d_k and d_v stay in registers. Another warp copies tiles by tensor maps. A tile's d_q is summed up over the blocks of keys in memory,
// always in the order of the keys, so that its bits are always the same: a warp of the block waits until the blocks before have added
// theirs, which began no later than it.
#include "backward.cuh"
#include "sm90.cuh"

namespace kk_cuda {
namespace {

constexpr int kQueries = kSm90Queries;  // of a tile

// The shared memory of a block: the host reserves kSm90BackwardBytes<kWidth>.
template <int kWidth, class T>
struct Memory {
  T keys[kSm90Keys * kWidth], values[kSm90Keys * kWidth];
  T queries[kSm90Stages][kQueries * kWidth], contexts[kSm90Stages][kQueries * kWidth];
  T d_scores[2][kSm90Keys * kQueries];  // a row for each key
  float d_q[kQueries * kWidth];  // in the order of kConsumers threads: of each, four numbers after another
  float lse[2][kQueries], delta[2][kQueries];
  uint64_t full_keys, full[kSm90Stages], empty[kSm90Stages], full_d_q, empty_d_q;
};

// The blocks of keys that a tile of queries sees, [first, last).
__device__ inline Seen BlocksSeenBy(const AttentionParams& p, int length, int tile) {
  const Seen earliest = SeenBy(p, length, tile * kQueries);
  const Seen latest = SeenBy(p, length, min(tile * kQueries + kQueries, p.queries) - 1);
  return {earliest.first / kSm90Keys, (latest.last + kSm90Keys - 1) / kSm90Keys};
}

// f(head, tile, order) for each tile that sees the block of keys, of each head that shares the keys. order: how many blocks come before.
template <class F>
__device__ inline void ForTiles(const AttentionParams& p, int length, int block, int group, const F& f) {
  const int tiles = (p.queries + kQueries - 1) / kQueries;
  for (int head = group * p.shared; head < (group + 1) * p.shared; ++head) {
    for (int tile = 0; tile < tiles; ++tile) {
      const Seen blocks = BlocksSeenBy(p, length, tile);
      if (block >= blocks.first && block < blocks.last) f(head, tile, block - blocks.first);
    }
  }
}

__device__ inline long long TileOf(const AttentionParams& p, int batch, int head, int tile) {
  return (static_cast<long long>(batch) * p.groups * p.shared + head) * ((p.queries + kQueries - 1) / kQueries) + tile;
}

// One thread.
template <int kWidth, class T>
__device__ inline void Produce(Memory<kWidth, T>& memory, const TensorMap& d_context, const TensorMap& q,
                               const TensorMap& k, const TensorMap& v, int length, int block, Pair at,
                               const AttentionParams& p) {
  ArriveExpecting(&memory.full_keys, sizeof memory.keys + sizeof memory.values);
  CopyColumns<kWidth, kSm90Keys>(memory.keys, k, block * kSm90Keys, at.group, at.batch, &memory.full_keys);
  CopyColumns<kWidth, kSm90Keys>(memory.values, v, block * kSm90Keys, at.group, at.batch, &memory.full_keys);
  int i = 0;
  ForTiles(p, length, block, at.group, [&](int head, int tile, int) {
    const int s = i % kSm90Stages;
    Await(&memory.empty[s], (i / kSm90Stages & 1) ^ 1);
    ArriveExpecting(&memory.full[s], sizeof memory.queries[s] + sizeof memory.contexts[s]);
    CopyColumns<kWidth, kQueries>(memory.queries[s], q, tile * kQueries, head, at.batch, &memory.full[s]);
    CopyColumns<kWidth, kQueries>(memory.contexts[s], d_context, tile * kQueries, head, at.batch, &memory.full[s]);
    ++i;
  });
}

// Adds each tile's d_q to the sums in memory. One thread. added: of each tile, how many blocks have.
template <int kWidth, class T>
__device__ inline void AddQueries(Memory<kWidth, T>& memory, float* sums, unsigned* added, int length, int block,
                                  Pair at, const AttentionParams& p) {
  int i = 0;
  ForTiles(p, length, block, at.group, [&](int head, int tile, int order) {
    const long long of = TileOf(p, at.batch, head, tile);
    Await(&memory.full_d_q, i & 1);
    while (LoadAcquired(added + of) != order) {
    }
    CopyOut<sizeof memory.d_q>(sums + of * kQueries * kWidth, memory.d_q, order > 0);
    StoreReleased(added + of, order + 1);
    Arrive(&memory.empty_d_q);
    ++i;
  });
}

// The sums of a group of warps, of its 64 keys.
template <int kWidth>
struct Sums {
  float d_k[kWidth / 8][4], d_v[kWidth / 8][4];
};

// A key is a row of a lane's fragment, a query its column. The scores become weights, d_weights become the scores' gradients, but for the
// factor. edge: some query of the tile doesn't see some key of the block.
__device__ inline void Differentiate(float (&scores)[kQueries / 8][4], float (&d_weights)[kQueries / 8][4],
                                     const float* lse, const float* delta, int first_key, int first_query, bool edge,
                                     int length, const AttentionParams& p) {
#pragma unroll
  for (int i = 0; i < kQueries / 4; ++i) {
    const int column = i / 2 * 8 + (threadIdx.x & 3) * 2 + i % 2;
    const float of_lse = lse[column], of_delta = delta[column];
    const Seen seen = edge ? SeenBy(p, length, first_query + column) : Seen{};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float& score = scores[i / 2][half * 2 + i % 2];
      float& d_weight = d_weights[i / 2][half * 2 + i % 2];
      const int key = first_key + 8 * half;
      if (edge && (key < seen.first || key >= seen.last)) {
        score = d_weight = 0;
        continue;
      }
      score = Exp2(score * p.factor - of_lse);
      d_weight = score * (d_weight - of_delta);
    }
  }
}

template <int kWidth, class T>
__device__ inline void Consume(Memory<kWidth, T>& memory, Sums<kWidth>& sums, const float* lse, const float* delta,
                               int length, int block, Pair at, const AttentionParams& p) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x & 31, own_group = warp / 4;
  const int own_key = warp * 16 + lane / 4, first_key = block * kSm90Keys;
  const T* const keys = memory.keys + own_group * kGroupRows * kSwizzled;
  const T* const values = memory.values + own_group * kGroupRows * kSwizzled;
  Await(&memory.full_keys, 0);
  // The gradients of their scores are 0, but keys beyond a length may be NaN.
  if (length < p.keys && length < first_key + kSm90Keys)
    ClearRows<kWidth, kSm90Keys>(memory.keys, max(length - first_key, 0));
  int i = 0;
  ForTiles(p, length, block, at.group, [&](int head, int tile, int) {
    const int s = i % kSm90Stages, buffer = i & 1, first_query = tile * kQueries;
    if (threadIdx.x < kQueries) {
      const int query = first_query + threadIdx.x;
      const long long of = LseRow(p, at.batch, {min(query, p.queries - 1), head});
      memory.lse[buffer][threadIdx.x] = query < p.queries ? lse[of] * kLog2E : kInfinity;
      memory.delta[buffer][threadIdx.x] = query < p.queries ? delta[of] : 0;
    }
    float scores[kQueries / 8][4] = {}, d_weights[kQueries / 8][4] = {};
    Await(&memory.full[s], i / kSm90Stages & 1);
    BeginDots<kWidth, kSm90Keys, kQueries>(scores, keys, memory.queries[s]);
    BeginDots<kWidth, kSm90Keys, kQueries>(d_weights, values, memory.contexts[s]);
    SyncSome(1, kConsumers);  // lse and delta have come
    WaitForProducts<0>();
    Pin(scores);
    Pin(d_weights);
    const Seen earliest = SeenBy(p, length, first_query);
    const Seen latest = SeenBy(p, length, min(first_query + kQueries, p.queries) - 1);
    const bool edge = latest.first > first_key || earliest.last < first_key + kSm90Keys;
    Differentiate(scores, d_weights, memory.lse[buffer], memory.delta[buffer], first_key + own_key, first_query, edge,
                  length, p);
    uint32_t weights[kQueries / 16][4], d_scores[kQueries / 16][4];
    PackRows<T>(weights, scores);
    PackRows<T>(d_scores, d_weights);
    T* const shared = memory.d_scores[buffer];
#pragma unroll
    for (int j = 0; j < kQueries / 4;
         ++j) {  // register j % 4: of the row 8 (j % 2) later, of the columns 8 (j / 2 % 2) later
      const int chunk = j / 4 * 2 + j % 4 / 2, row = own_key + j % 2 * 8;
      *reinterpret_cast<uint32_t*>(shared + TileOffset<kSwizzled>(row, chunk) + (lane & 3) * 2) =
          d_scores[j / 4][j % 4];
    }
    PublishWrites();
    BeginSums<kWidth, kQueries>(sums.d_v, weights, memory.contexts[s]);
    BeginSums<kWidth, kQueries>(sums.d_k, d_scores, memory.queries[s]);
    SyncSome(1, kConsumers);  // the gradients of all scores have come
    float d_q[kWidth / 16][4] = {};
    const int column = own_group * kWidth / 2;
    const uint64_t of_scores = Describe(shared, 16),
                   of_keys = Describe(memory.keys + column / kSwizzled * kSm90Keys * kSwizzled, 16) +
                             column % kSwizzled / 16 * kSixteenColumns;
    Pin(d_q);
    BeginProducts();
#pragma unroll
    for (int key = 0; key < kSm90Keys; key += 16) {
      GroupAcross<T>(d_q, of_scores + RowsOn(key), of_keys + RowsOn(key), key > 0);
    }
    CommitProducts();
    WaitForProducts<0>();
    Pin(d_q);
    Pin(sums.d_k);
    Pin(sums.d_v);
    if (lane == 0) Arrive(&memory.empty[s]);
    Await(&memory.empty_d_q, (i & 1) ^ 1);
#pragma unroll
    for (int n = 0; n < kWidth / 16; ++n) {
      const float(&four)[4] = d_q[n];
      reinterpret_cast<float4*>(memory.d_q)[n * kConsumers + threadIdx.x] = {four[0], four[1], four[2], four[3]};
    }
    PublishWrites();
    __syncwarp();
    if (lane == 0) Arrive(&memory.full_d_q);
    ++i;
  });
}

template <int kWidth, class T>
__device__ void Backward(const TensorMap& d_context, const TensorMap& q, const TensorMap& k, const TensorMap& v,
                         const int* lengths, const float* lse, const float* delta, float* d_q, unsigned* added, T* d_k,
                         T* d_v, const AttentionParams& p) {
  extern __shared__ __align__(1024) unsigned char bytes[];
  Memory<kWidth, T>& memory = *reinterpret_cast<Memory<kWidth, T>*>(bytes);
  static_assert(sizeof(Memory<kWidth, T>) <= kSm90BackwardBytes<kWidth>, "the host reserves as much");
  const int blocks = (p.keys + kSm90Keys - 1) / kSm90Keys, block = blockIdx.x % blocks, pair = blockIdx.x / blocks;
  const Pair at = {pair / p.groups, pair % p.groups};
  const int length = GetLength(p, lengths, at.batch);
  if (threadIdx.x == 0) {
    InitBarrier(&memory.full_keys, 1);
    for (int s = 0; s < kSm90Stages; ++s) {
      InitBarrier(&memory.full[s], 1);
      InitBarrier(&memory.empty[s], kConsumers / 32);
    }
    InitBarrier(&memory.full_d_q, kConsumers / 32);
    InitBarrier(&memory.empty_d_q, 1);
    PublishBarriers();
  }
  __syncthreads();
  if (threadIdx.x >= kConsumers) {
    GiveRegistersBack<kProducerRegisters>();
    if (threadIdx.x == kConsumers) Produce(memory, d_context, q, k, v, length, block, at, p);
    if (threadIdx.x == kConsumers + 32) AddQueries(memory, d_q, added, length, block, at, p);
    return;
  }
  TakeRegisters<kConsumerRegisters>();
  Sums<kWidth> sums = {};
  Consume(memory, sums, lse, delta, length, block, at, p);
  const int lane = threadIdx.x & 31;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int key = block * kSm90Keys + threadIdx.x / 32 * 16 + lane / 4 + 8 * half;
    if (key >= p.keys) continue;
    const long long to = ((static_cast<long long>(at.batch) * p.keys + key) * p.groups + at.group) * p.width;
    StoreSums<kWidth>(sums.d_k, half, p.factor * kLn2, d_k + to, p.width, lane);
    StoreSums<kWidth>(sums.d_v, half, 1, d_v + to, p.width, lane);
  }
}

// d_q of the sums, a block for each tile; `added` is 0 for the next call.
template <int kWidth, class T>
__device__ void Finish(const float* sums, unsigned* added, const int* lengths, T* d_q, const AttentionParams& p) {
  const int tiles = (p.queries + kQueries - 1) / kQueries, heads = p.groups * p.shared;
  const int tile = blockIdx.x % tiles, head = blockIdx.x / tiles % heads, batch = blockIdx.x / tiles / heads;
  const Seen blocks = BlocksSeenBy(p, GetLength(p, lengths, batch), tile);
  const long long of = TileOf(p, batch, head, tile);
  const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  float d[kWidth / 16][4] = {};
  if (blocks.first < blocks.last) {
#pragma unroll
    for (int n = 0; n < kWidth / 16; ++n) {
      const float4 four = reinterpret_cast<const float4*>(sums + of * kQueries * kWidth)[n * kConsumers + threadIdx.x];
      d[n][0] = four.x, d[n][1] = four.y, d[n][2] = four.z, d[n][3] = four.w;
    }
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int query = tile * kQueries + warp % 4 * 16 + lane / 4 + 8 * half, column = warp / 4 * kWidth / 2;
    if (query >= p.queries) continue;
    T* const to = d_q + OutRow(p, batch, {query, head}) * p.width + column;
    StoreSums<kWidth / 2>(d, half, p.factor * kLn2, to, p.width - column, lane);
  }
  if (threadIdx.x == 0) added[of] = 0;
}

}  // namespace
}  // namespace kk_cuda

#define KK_BACKWARD_SM90(name, T, width)                                                                              \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kSm90Threads, 1) attention_backward_sm90_##name##_##width(    \
      const __grid_constant__ kk_cuda::TensorMap d_context, const __grid_constant__ kk_cuda::TensorMap q,             \
      const __grid_constant__ kk_cuda::TensorMap k, const __grid_constant__ kk_cuda::TensorMap v, const int* lengths, \
      const float* lse, const float* delta, float* d_q, unsigned* added, T* d_k, T* d_v,                              \
      const __grid_constant__ kk_cuda::AttentionParams p) {                                                           \
    kk_cuda::Backward<width>(d_context, q, k, v, lengths, lse, delta, d_q, added, d_k, d_v, p);                       \
  }                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(256)                                                                   \
      attention_finish_sm90_##name##_##width(const float* sums, unsigned* added, const int* lengths, T* d_q,          \
                                             const __grid_constant__ kk_cuda::AttentionParams p) {                    \
    kk_cuda::Finish<width>(sums, added, lengths, d_q, p);                                                             \
  }
KK_BACKWARD_SM90(bf16, __nv_bfloat16, 64)
KK_BACKWARD_SM90(bf16, __nv_bfloat16, 128)
KK_BACKWARD_SM90(f16, __half, 64)
KK_BACKWARD_SM90(f16, __half, 128)
