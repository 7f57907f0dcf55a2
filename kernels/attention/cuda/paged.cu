// paged_attention: each block has a few rows of a group and one part of the item's keys. Eight elements of a key lie in each lane, so
// that several keys are read at once; each group of lanes has its own online softmax, and they are put together at the end.
#include "paged.cuh"
#include "warp.cuh"

namespace kk_cuda {
namespace {

constexpr int kRows = 4;
constexpr int kOwn = 8;  // elements of a row per lane

__device__ inline void LoadOwn(float (&to)[kOwn], const float* from) {
  const float4 low = reinterpret_cast<const float4*>(from)[0], high = reinterpret_cast<const float4*>(from)[1];
  to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
  to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
}
template <class T>
__device__ inline void Unpack(float (&to)[kOwn], const uint4& packed) {
  const unsigned words[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    const unsigned short bits = static_cast<unsigned short>(words[i / 2] >> (i % 2 * 16));
    to[i] = ToFloat(reinterpret_cast<const T&>(bits));
  }
}
__device__ inline void LoadOwn(float (&to)[kOwn], const __half* from) {
  Unpack<__half>(to, *reinterpret_cast<const uint4*>(from));
}
__device__ inline void LoadOwn(float (&to)[kOwn], const __nv_bfloat16* from) {
  Unpack<__nv_bfloat16>(to, *reinterpret_cast<const uint4*>(from));
}
__device__ inline void LoadOwn(float (&to)[kOwn], const signed char* from) {
  const uint2 packed = *reinterpret_cast<const uint2*>(from);
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    to[i] = static_cast<signed char>((i < 4 ? packed.x : packed.y) >> (i % 4 * 8));
  }
}

// Elements d and the seven after it, zeros beyond the width.
template <class C>
__device__ inline void LoadRow(float (&to)[kOwn], const C* row, int d, const PagedParams& p, long long stride) {
  if (p.vectors && d < p.width) return LoadOwn(to, row + d);
#pragma unroll
  for (int i = 0; i < kOwn; ++i) to[i] = d + i < p.width ? ToFloat(row[(d + i) * stride]) : 0;
}

struct State {
  float largest, total, sums[kOwn];
};

// `other` has seen other keys.
__device__ inline void Join(State& state, float largest, float total, const float (&sums)[kOwn]) {
  const float now = fmaxf(state.largest, largest), origin = Origin(now);
  const float mine = Exp2(state.largest - origin), others = Exp2(largest - origin);
  state.largest = now;
  state.total = state.total * mine + total * others;
#pragma unroll
  for (int i = 0; i < kOwn; ++i) state.sums[i] = state.sums[i] * mine + sums[i] * others;
}

template <int kWidth, class C>
__device__ void Paged(const void* q, const C* k, const C* v, const int* tables, const int* lengths,
                      const float* k_scales, const float* v_scales, float* partial, const PagedParams& p) {
  constexpr int kLanes = kWidth / kOwn, kBeside = 32 / kLanes;  // lanes of a key; keys of a warp
  __shared__ float shared[kWarps][kRows][kWidth + 2];
  const int rows = p.queries * p.shared;
  const PagedBlock block = GetPagedBlock<kRows>(p);
  const int first_row = block.first_row, group = block.group, part = block.part, batch = block.batch;
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, d = lane % kLanes * kOwn;

  const int length = lengths[batch];
  if (part >= CountParts(p, length)) return;
  int first[kRows], last[kRows];
  float query[kRows][kOwn];
  State state[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = min(first_row + r, rows - 1), at = length - p.queries + row / p.shared;
    const long long from =
        batch * p.q.batch + row / p.shared * p.q.row + (group * p.shared + row % p.shared) * p.q.head;
    first[r] = p.window > 0 ? max(0, at - p.window + 1) : 0, last[r] = at + 1;
    state[r] = {-kInfinity, 0, {}};
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      query[r][i] = d + i < p.width ? Load(p.kind, q, from + (d + i) * p.q.width) : 0;
    }
  }
  const int begin = max(part * kPartKeys, first[0]), end = min((part + 1) * kPartKeys, last[kRows - 1]);
  for (int key = begin + warp * kBeside; key < end; key += kWarps * kBeside) {
    const int own = key + lane / kLanes;
    const bool there = own < end;
    const int entry = there ? tables[static_cast<long long>(batch) * p.table_size + own / p.page] : 0;
    const bool known = entry >= 0 && entry < p.pages;
    float of_key[kOwn] = {}, of_value[kOwn] = {};
    float key_scale = 1, value_scale = 1;
    if (there && known) {
      const int row = own % p.page;
      LoadRow(of_key, k + entry * p.k.batch + row * p.k.row + group * p.k.head, d, p, p.k.width);
      LoadRow(of_value, v + entry * p.v.batch + row * p.v.row + group * p.v.head, d, p, p.v.width);
      if constexpr (sizeof(C) == 1) {
        const long long at = (static_cast<long long>(entry) * p.page + row) * p.groups + group;
        key_scale = k_scales[at], value_scale = v_scales[at];
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float dot = 0;
#pragma unroll
      for (int i = 0; i < kOwn; ++i) dot += query[r][i] * of_key[i];
#pragma unroll
      for (int i = 1; i < kLanes; i *= 2) dot += __shfl_xor_sync(~0u, dot, i);
      const bool counts = there && own >= first[r] && own < last[r];
      const float score = counts ? (known ? Score(dot * key_scale, p.factor, p.cap) : kNan) : -kInfinity;
      const float now = fmaxf(state[r].largest, score), origin = Origin(now);
      const float before = Exp2(state[r].largest - origin), weight = Exp2(score - origin);
      state[r].largest = now;
      state[r].total = state[r].total * before + weight;
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        state[r].sums[i] = state[r].sums[i] * before + weight * value_scale * of_value[i];
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int other = kLanes; other < 32; other *= 2) {
      float sums[kOwn];
#pragma unroll
      for (int i = 0; i < kOwn; ++i) sums[i] = __shfl_xor_sync(~0u, state[r].sums[i], other);
      const float largest = __shfl_xor_sync(~0u, state[r].largest, other);
      const float total = __shfl_xor_sync(~0u, state[r].total, other);
      Join(state[r], largest, total, sums);
    }
    if (lane < kLanes) {
#pragma unroll
      for (int i = 0; i < kOwn; ++i) shared[warp][r][d + i] = state[r].sums[i];
    }
    if (lane == 0) shared[warp][r][kWidth] = state[r].largest, shared[warp][r][kWidth + 1] = state[r].total;
  }
  __syncthreads();
  JoinWarps<kWidth, kRows>(&shared[0][0][0], partial, p, batch, group, first_row, part);
}

}  // namespace
}  // namespace kk_cuda

#define KK_PAGED(name, C, width)                                                                                \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kThreads)                                               \
      name(const void* q, const C* k, const C* v, const int* tables, const int* lengths, const float* k_scales, \
           const float* v_scales, float* partial, const __grid_constant__ kk_cuda::PagedParams p) {             \
    kk_cuda::Paged<width>(q, k, v, tables, lengths, k_scales, v_scales, partial, p);                            \
  }
#define KK_PAGED_WIDTHS(name, C)       \
  KK_PAGED(paged_##name##_32, C, 32)   \
  KK_PAGED(paged_##name##_64, C, 64)   \
  KK_PAGED(paged_##name##_128, C, 128) \
  KK_PAGED(paged_##name##_256, C, 256)
KK_PAGED_WIDTHS(f32, float)
KK_PAGED_WIDTHS(f16, __half)
KK_PAGED_WIDTHS(bf16, __nv_bfloat16)
KK_PAGED_WIDTHS(i8, signed char)

// A block for each row of the result: the parts put together, a part per thread at a time.
extern "C" __global__ void __launch_bounds__(kk_cuda::kThreads)
    paged_join(float* partial, const int* lengths, const float* sinks, void* out,
               const __grid_constant__ kk_cuda::PagedParams p) {
  using namespace kk_cuda;
  __shared__ float of_warps[kWarps], weights[kThreads];
  const long long row = blockIdx.x;
  const int parts = CountParts(p, lengths[row / (static_cast<long long>(p.queries) * p.groups * p.shared)]);
  float now = -kInfinity;
  for (int i = threadIdx.x; i < parts; i += kThreads) now = fmaxf(now, GetPartial(partial, p, row, i)[p.width]);
  now = WarpMax(now);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = now;
  __syncthreads();
  for (int w = 0; w < kWarps; ++w) now = fmaxf(now, of_warps[w]);
  const float sink = GetSink(sinks, static_cast<int>(row % (p.groups * p.shared)));
  now = fmaxf(now, sink);
  float total = Exp2(sink - Origin(now)), sums[256 / kThreads] = {};
  for (int first = 0; first < parts; first += kThreads) {
    const int count = min(parts - first, kThreads);
    float weight = 0;
    float by = 0;
    if (threadIdx.x < count) {
      const float* const from = GetPartial(partial, p, row, first + static_cast<int>(threadIdx.x)) + p.width;
      by = Exp2(from[0] - Origin(now));
      weight = by * from[1];
    }
    weight = WarpSum(weight);
    __syncthreads();  // what `of_warps` held, and `weights`, have been read
    weights[threadIdx.x] = by;
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = weight;
    __syncthreads();
    for (int w = 0; w < kWarps; ++w) total += of_warps[w];
    for (int c = 0; c < 256 / kThreads; ++c) {
      const int d = c * kThreads + static_cast<int>(threadIdx.x);
      if (d >= p.width) continue;
#pragma unroll 4
      for (int i = 0; i < count; ++i) sums[c] += GetPartial(partial, p, row, first + i)[d] * weights[i];
    }
  }
  for (int c = 0; c < 256 / kThreads; ++c) {
    const int d = c * kThreads + static_cast<int>(threadIdx.x);
    if (d < p.width) Store(p.kind, parts == 0 ? kNan : total == 0 ? 0 : sums[c] / total, out, row * p.width + d);
  }
}
