// rope, also backwards and in place: threads read a pair before they write it. A thread per chunk of pairs where rows can be read so,
// else a block per row of a head.
#include "common/cuda/chunks.cuh"

namespace kk_cuda {
namespace {

template <class S>
struct Turned {
  S first, second;
};
template <class S>
__device__ inline Turned<S> Turn(S a, S b, S cos, S sin, int backward) {
  const S s = backward ? -sin : sin;
  return {a * cos - b * s, b * cos + a * s};
}

template <class T>
__device__ void Rope(const T* x, const float* cos, const float* sin, T* out, const RopeParams& p) {
  using S = Compute<T>;
  const long long row = blockIdx.x;
  const T* const from = x + RowOffset(p.x, row);
  T* const to = out + RowOffset(p.out, row);
  const long long angle = RowOffset(p.angles, row / p.heads);
  for (int i = threadIdx.x; i < p.pairs; i += blockDim.x) {
    const int first = p.interleaved ? 2 * i : i, second = p.interleaved ? 2 * i + 1 : p.pairs + i;
    const auto [a, b] = Turn<S>(Number(from[first * p.x.step]), Number(from[second * p.x.step]), cos[angle + i],
                                sin[angle + i], p.backward);
    Put(a, to + first * p.out.step);
    Put(b, to + second * p.out.step);
  }
  for (int i = 2 * p.pairs + threadIdx.x; i < p.width; i += blockDim.x) to[i * p.out.step] = from[i * p.x.step];
}

// Of rows that are pairs only: a thread has two chunks, beside each other or half a row apart.
template <class T>
__device__ void RopeChunks(const T* x, const float* cos, const float* sin, T* out, const RopeParams& p) {
  using S = Compute<T>;
  constexpr int kCount = kChunk<T>;
  const unsigned of_row = p.pairs / kCount;  // threads
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool narrow = thread <= 0xffffffffll;  // of 64 bits divisions are slow
  const long long row = narrow ? static_cast<unsigned>(thread) / of_row : thread / of_row;
  if (row >= p.rows) return;
  const int i = static_cast<int>(thread - row * of_row) * kCount;
  const long long position =
      row <= 0xffffffffll ? static_cast<unsigned>(row) / static_cast<unsigned>(p.heads) : row / p.heads;
  const long long from = RowOffset(p.x, row), to = RowOffset(p.out, row), angle = RowOffset(p.angles, position) + i;
  const int first = p.interleaved ? 2 * i : i, second = p.interleaved ? 2 * i + kCount : p.pairs + i;
  const Chunk<T> low = LoadChunk(x + from + first), high = LoadChunk(x + from + second);
  S c[kCount], s[kCount];
  Convert(c, cos + angle);
  Convert(s, sin + angle);
  Chunk<T> of_low, of_high;
#pragma unroll
  for (int e = 0; e < kCount; ++e) {
    if (p.interleaved) {
      const Chunk<T>& both = e < kCount / 2 ? low : high;
      Chunk<T>& of_both = e < kCount / 2 ? of_low : of_high;
      const int at = 2 * e % kCount;
      const auto [a, b] = Turn<S>(Number(both.at[at]), Number(both.at[at + 1]), c[e], s[e], p.backward);
      Put(a, &of_both.at[at]);
      Put(b, &of_both.at[at + 1]);
    } else {
      const auto [a, b] = Turn<S>(Number(low.at[e]), Number(high.at[e]), c[e], s[e], p.backward);
      Put(a, &of_low.at[e]);
      Put(b, &of_high.at[e]);
    }
  }
  StoreChunk(of_low, out + to + first);
  StoreChunk(of_high, out + to + second);
}

}  // namespace
}  // namespace kk_cuda

#define KK_ROPE(name, T)                                                                                       \
  extern "C" __global__ void __launch_bounds__(64)                                                             \
      rope_##name(const T* x, const float* cos, const float* sin, T* out, kk_cuda::RopeParams p) {             \
    kk_cuda::Rope(x, cos, sin, out, p);                                                                        \
  }                                                                                                            \
  extern "C" __global__ void __launch_bounds__(128) rope_chunks_##name(                                        \
      const T* x, const float* cos, const float* sin, T* out, const __grid_constant__ kk_cuda::RopeParams p) { \
    kk_cuda::RopeChunks(x, cos, sin, out, p);                                                                  \
  }
KK_ROPE(f32, float)
KK_ROPE(f64, double)
KK_ROPE(f16, __half)
KK_ROPE(bf16, __nv_bfloat16)
