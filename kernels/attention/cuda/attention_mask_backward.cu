// The gradient of an additive mask of attention: d_score (attention_backward.cu), summed over what an element of the mask was broadcast
// to. A block has 32 keys of a row of the mask; its warps have a part of the repeats each, and the parts are added in order.
#include "backward.cuh"

namespace kk_cuda {
namespace {

template <int kWidth, class T>
__device__ void OfMask(const T* d_context, const T* q, const T* k, const T* v, const void* mask, const float* lse,
                       const float* delta, void* d_mask, const AttentionParams& p, const MaskGradientParams& m) {
  __shared__ float rows[2 * kWarps * (kWidth + 1)], sums[kWarps][kLanes];
  const Tile<kWidth> own{rows};
  const int tiles = (p.keys + kLanes - 1) / kLanes, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int key = static_cast<int>(blockIdx.x % tiles) * kLanes + lane;
  const int of_mask = blockIdx.x / tiles;
  const int heads = p.groups * p.shared, row = of_mask % m.rows, head = of_mask / m.rows % m.heads;
  const int batch = of_mask / m.rows / m.heads;
  const int all_rows = m.rows == 1 ? p.queries : 1, all_heads = m.heads == 1 ? heads : 1;
  const int repeats = (m.batch == 1 ? p.batch : 1) * all_heads * all_rows;
  float sum = 0;
  const int part = (repeats + kWarps - 1) / kWarps, end = min(repeats, part * (warp + 1));
  for (int i = part * warp; i < end; ++i) {
    const int at_batch = batch + i / all_rows / all_heads, at_head = head + i / all_rows % all_heads;
    const int group = at_head / p.shared, at_row = row + i % all_rows;
    const Query query = LoadQuery(p, at_batch, group, p.keys, at_row * p.shared + at_head % p.shared);
    __syncwarp();  // what the repeat before left has been read
    LoadRow(own, 2 * warp, q + query.of_q, p.q.width, p.width, true);
    LoadRow(own, 2 * warp + 1, d_context + query.out, 1, p.width, true);
    __syncwarp();
    if (key >= query.seen.last) continue;
    const T* const of_key = k + at_batch * p.k.batch + group * p.k.head + key * p.k.row;
    const T* const of_value = v + at_batch * p.v.batch + group * p.v.head + key * p.v.row;
    float dot = 0, d_weight = 0;
    for (int d = 0; d < p.width; ++d) {
      dot += own.Row(2 * warp)[d] * ToFloat(of_key[d * p.k.width]);
      d_weight += own.Row(2 * warp + 1)[d] * ToFloat(of_value[d * p.v.width]);
    }
    sum += ComputeGradient(p, mask, query, key, dot, d_weight, lse[query.lse], delta[query.lse]).of_score;
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || key >= p.keys) return;
  for (int w = 1; w < kWarps; ++w) sum += sums[w][lane];
  Store(m.kind, sum, d_mask, static_cast<long long>(of_mask) * p.keys + key);
}

}  // namespace
}  // namespace kk_cuda

#define KK_MASK(name, T)                                                                                              \
  extern "C" __global__ void __launch_bounds__(128) attention_d_mask_##name(                                          \
      const T* d_context, const T* q, const T* k, const T* v, const void* mask, const float* lse, const float* delta, \
      void* d_mask, const __grid_constant__ kk_cuda::AttentionParams p,                                               \
      const __grid_constant__ kk_cuda::MaskGradientParams m) {                                                        \
    kk_cuda::OfMask<256>(d_context, q, k, v, mask, lse, delta, d_mask, p, m);                                         \
  }
KK_MASK(f32, float)
KK_MASK(f16, __half)
KK_MASK(bf16, __nv_bfloat16)
