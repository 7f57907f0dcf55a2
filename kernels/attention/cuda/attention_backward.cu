// The gradient of attention: weights are formed again from the scores and their saved logarithmic sums, so no S x L matrix is stored
// (T. Dao, "FlashAttention-2", arXiv:2307.08691). With p = exp(score - lse) and delta = sum(d_context * context) of a query,
//   d_v = sum over queries of p * d_context,   d_score = p * (d_context . v - delta),
//   d_k = sum over queries of d_score * slope * q,   d_q = sum over keys of d_score * slope * k.
// One kernel has blocks of queries, another blocks of keys: each sum belongs to one warp, which forms it in one order. Sums are f32.
// Of f32, and of what tensor cores don't take (attention_mma_backward.cu): but for delta, which is here for both.
#include "backward.cuh"

namespace kk_cuda {
namespace {

// sums += the sum over lanes of weight * its row of the tile.
template <int kWidth>
__device__ inline void AddRows(float (&sums)[kWidth / 32], float weight, const Tile<kWidth>& tile, int lane) {
  for (int j = 0; j < kLanes; ++j) {
    const float by = __shfl_sync(~0u, weight, j);
#pragma unroll
    for (int c = 0; c < kWidth / 32; ++c) sums[c] += by * tile.Row(j)[c * 32 + lane];
  }
}

template <int kWidth, class T>
__device__ inline void StoreRow(const float (&sums)[kWidth / 32], T* to, int width, int lane) {
#pragma unroll
  for (int c = 0; c < kWidth / 32; ++c) {
    if (c * 32 + lane < width) Store(sums[c], to + c * 32 + lane);
  }
}

// delta of each query: a warp per row.
template <class T>
__device__ void Deltas(const T* d_context, const T* context, float* delta, const AttentionParams& p) {
  const long long rows = static_cast<long long>(p.queries) * p.groups * p.shared;
  const long long row = static_cast<long long>(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (row >= rows * p.batch) return;
  float sum = 0;
  for (int d = threadIdx.x % 32; d < p.width; d += 32) {
    sum += ToFloat(d_context[row * p.width + d]) * ToFloat(context[row * p.width + d]);
  }
  sum = WarpSum(sum);
  const int heads = p.groups * p.shared, batch = static_cast<int>(row / rows);
  const long long query = row % rows / heads, head = row % heads;
  if (threadIdx.x % 32 == 0) delta[(static_cast<long long>(batch) * heads + head) * p.queries + query] = sum;
}

// The gradient of a head's sink: a block per head, whose warps take rows by turns.
template <class T>
__device__ void OfSinks(const T* d_context, const T* context, const float* lse, const float* sinks, float* d_sinks,
                        const SinkParams& p) {
  __shared__ float of_warps[kWarps];
  const int head = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sum = 0;
  for (long long row = warp; row < p.rows; row += kWarps) {
    const long long at = (row * p.heads + head) * p.width;
    float delta = 0;
    for (int d = lane; d < p.width; d += 32) delta += ToFloat(d_context[at + d]) * ToFloat(context[at + d]);
    const float of_row = lse[(row / p.queries * p.heads + head) * p.queries + row % p.queries];
    sum -= Exp2((sinks[head] - of_row) * kLog2E) * WarpSum(delta);
  }
  if (lane == 0) of_warps[warp] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < kWarps; ++w) sum += of_warps[w];
  d_sinks[head] = sum;
}

// A query per warp, beside 32 keys at a time.
template <int kWidth, class T>
__device__ void OfQueries(const T* d_context, const T* q, const T* k, const T* v, const int* lengths, const void* mask,
                          const float* lse, const float* delta, T* d_q, const AttentionParams& p) {
  extern __shared__ __align__(16) float memory[];
  const Tile<kWidth> keys{memory}, values{memory + kLanes * (kWidth + 1)}, own{values.at + kLanes * (kWidth + 1)};
  const int rows = p.queries * p.shared, tiles = (rows + kWarps - 1) / kWarps;
  const int first_row = static_cast<int>(blockIdx.x % tiles) * kWarps, pair = blockIdx.x / tiles;
  const int group = pair % p.groups, batch = pair / p.groups, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  k += batch * p.k.batch + group * p.k.head;
  v += batch * p.v.batch + group * p.v.head;
  const int length = GetLength(p, lengths, batch), row = min(first_row + warp, rows - 1);
  const Query query = LoadQuery(p, batch, group, length, row);
  LoadRow(own, 2 * warp, q + query.of_q, p.q.width, p.width, true);
  LoadRow(own, 2 * warp + 1, d_context + query.out, 1, p.width, true);
  const int begin = SeenBy(p, length, first_row / p.shared).first;
  const int end = SeenBy(p, length, (min(first_row + kWarps, rows) - 1) / p.shared).last;
  float sums[kWidth / 32] = {};
  for (int key = begin; key < end; key += kLanes) {
    __syncthreads();
    for (int r = warp; r < kLanes; r += kWarps) {
      LoadRow(keys, r, k + (key + r) * p.k.row, p.k.width, p.width, key + r < end);
      LoadRow(values, r, v + (key + r) * p.v.row, p.v.width, p.width, key + r < end);
    }
    __syncthreads();
    const float dot = Dot<kWidth>(own.Row(2 * warp), keys.Row(lane));
    const float d_weight = Dot<kWidth>(own.Row(2 * warp + 1), values.Row(lane));
    const Gradient of = ComputeGradient(p, mask, query, key + lane, dot, d_weight, lse[query.lse], delta[query.lse]);
    AddRows<kWidth>(sums, of.of_dot, keys, lane);
  }
  if (first_row + warp < rows) StoreRow<kWidth>(sums, d_q + query.out, p.width, lane);
}

// A key per warp, beside 32 queries at a time: those of all heads that share it.
template <int kWidth, class T>
__device__ void OfKeys(const T* d_context, const T* q, const T* k, const T* v, const int* lengths, const void* mask,
                       const float* lse, const float* delta, T* d_k, T* d_v, const AttentionParams& p) {
  extern __shared__ __align__(16) float memory[];
  const Tile<kWidth> queries{memory}, contexts{memory + kLanes * (kWidth + 1)},
      own{contexts.at + kLanes * (kWidth + 1)};
  const int tiles = (p.keys + kWarps - 1) / kWarps;
  const int first_key = static_cast<int>(blockIdx.x % tiles) * kWarps, pair = blockIdx.x / tiles;
  const int group = pair % p.groups, batch = pair / p.groups, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int key = min(first_key + warp, p.keys - 1), length = GetLength(p, lengths, batch);
  LoadRow(own, 2 * warp, k + batch * p.k.batch + group * p.k.head + key * p.k.row, p.k.width, p.width, key < length);
  LoadRow(own, 2 * warp + 1, v + batch * p.v.batch + group * p.v.head + key * p.v.row, p.v.width, p.width,
          key < length);
  const int rows = p.queries * p.shared, last_key = min(first_key + kWarps, p.keys) - 1;
  float of_key[kWidth / 32] = {}, of_value[kWidth / 32] = {};
  for (int row = 0; row < rows; row += kLanes) {
    // Queries see keys in order: none before its first key, or past its last one, needs to be read.
    const Seen earliest = SeenBy(p, length, row / p.shared);
    const Seen latest = SeenBy(p, length, (min(row + kLanes, rows) - 1) / p.shared);
    if (latest.last <= first_key || earliest.first > last_key) continue;
    __syncthreads();
    for (int r = warp; r < kLanes; r += kWarps) {
      const Query query = LoadQuery(p, batch, group, length, min(row + r, rows - 1));
      LoadRow(queries, r, q + query.of_q, p.q.width, p.width, row + r < rows);
      LoadRow(contexts, r, d_context + query.out, 1, p.width, row + r < rows);
    }
    __syncthreads();
    const float dot = Dot<kWidth>(own.Row(2 * warp), queries.Row(lane));
    const float d_weight = Dot<kWidth>(own.Row(2 * warp + 1), contexts.Row(lane));
    Gradient of = {};
    if (row + lane < rows) {
      const Query query = LoadQuery(p, batch, group, length, row + lane);
      of = ComputeGradient(p, mask, query, key, dot, d_weight, lse[query.lse], delta[query.lse]);
    }
    AddRows<kWidth>(of_key, of.of_dot, queries, lane);
    AddRows<kWidth>(of_value, of.weight, contexts, lane);
  }
  if (first_key + warp >= p.keys) return;
  const long long to = ((static_cast<long long>(batch) * p.keys + key) * p.groups + group) * p.width;
  StoreRow<kWidth>(of_key, d_k + to, p.width, lane);
  StoreRow<kWidth>(of_value, d_v + to, p.width, lane);
}

}  // namespace
}  // namespace kk_cuda

#define KK_BACKWARD(name, T, width)                                                                                   \
  extern "C" __global__ void __launch_bounds__(128) attention_d_q_##name##_##width(                                   \
      const T* d_context, const T* q, const T* k, const T* v, const int* lengths, const void* mask, const float* lse, \
      const float* delta, T* d_q, const __grid_constant__ kk_cuda::AttentionParams p) {                               \
    kk_cuda::OfQueries<width>(d_context, q, k, v, lengths, mask, lse, delta, d_q, p);                                 \
  }                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(128) attention_d_k_##name##_##width(                                   \
      const T* d_context, const T* q, const T* k, const T* v, const int* lengths, const void* mask, const float* lse, \
      const float* delta, T* d_k, T* d_v, const __grid_constant__ kk_cuda::AttentionParams p) {                       \
    kk_cuda::OfKeys<width>(d_context, q, k, v, lengths, mask, lse, delta, d_k, d_v, p);                               \
  }
#define KK_BACKWARDS(name, T)                                                                                   \
  extern "C" __global__ void __launch_bounds__(128) attention_delta_##name(                                     \
      const T* d_context, const T* context, float* delta, const __grid_constant__ kk_cuda::AttentionParams p) { \
    kk_cuda::Deltas(d_context, context, delta, p);                                                              \
  }                                                                                                             \
  extern "C" __global__ void __launch_bounds__(128)                                                             \
      attention_d_sinks_##name(const T* d_context, const T* context, const float* lse, const float* sinks,      \
                               float* d_sinks, const __grid_constant__ kk_cuda::SinkParams p) {                 \
    kk_cuda::OfSinks(d_context, context, lse, sinks, d_sinks, p);                                               \
  }                                                                                                             \
  KK_BACKWARD(name, T, 64)                                                                                      \
  KK_BACKWARD(name, T, 128)                                                                                     \
  KK_BACKWARD(name, T, 256)
KK_BACKWARDS(f32, float)
KK_BACKWARDS(f16, __half)
KK_BACKWARDS(bf16, __nv_bfloat16)
