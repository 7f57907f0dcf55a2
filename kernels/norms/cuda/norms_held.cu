// layer_norm and rms_norm, also of a sum, of rows that the registers of a warp or a block hold. norms.cu takes the others.
#include "common/cuda/chunks.cuh"
#include "moments.cuh"
#include "common/cuda/team.cuh"

namespace kk_cuda {
namespace {

// weight and bias for a chunk.
template <class T, int kCount = kChunk<T>>
struct Affine {
  float weight[kCount], bias[kCount];

  __device__ Affine(const NormParams& p, const void* weights, const void* biases, int at) : bias{} {
    LoadNumbers<T>(weight, p.weight, weights, at);
    if (p.has_bias) LoadNumbers<T>(bias, p.weight, biases, at);
  }
};

// residual: null where x alone is normalised.
template <bool kLayer, int kThreads, class T>
__device__ void Norm(const T* x, const T* residual, const void* weight, const void* bias, T* out, T* sum,
                     const NormParams& p) {
  using Row = Team<kThreads>;
  const long long row = Row::Row(), at = row * p.width;
  if (row >= p.rows) return;
  const T* from = x + RowOffset(p.x, row);
  Held<T, kThreads> held(from, p.width);
  if (residual) {
    held.ForChunks([&](Chunk<T>& chunk, int i) {
      const Chunk<T> other = LoadChunk(residual + at + i);
#pragma unroll
      for (int e = 0; e < kChunk<T>; ++e) Put(Number(chunk.at[e]) + Number(other.at[e]), &chunk.at[e]);
      StoreChunk(chunk, sum + at + i);
    });
    from = sum + at;
  }
  Moments<float> m{};
  const float of_one = static_cast<float>(p.per_element);
  if (kLayer) {
    float total = 0;
    held.ForNumbers([&](float y) { total += y; });
    m.mean = Row::Sum(total) * of_one;
  }
  float square = 0;
  if (kLayer) {
    float sums[2] = {};  // of y - mean, and its square
    held.ForNumbers([&](float y) { sums[0] += y - m.mean, sums[1] += (y - m.mean) * (y - m.mean); });
    Row::Sum(sums);
    m.rest = sums[0] * of_one;
    square = sums[1] * of_one - m.rest * m.rest;
  } else {
    held.ForNumbers([&](float y) { square += y * y; });
    square = Row::Sum(square) * of_one;
  }
  if (square > 0 && IsModerate(square)) {
    const float scale = InverseRoot(static_cast<double>(square) + p.eps);
    held.ForChunks([&](Chunk<T>& chunk, int i) {
      const Affine<T> affine(p, weight, bias, i);
#pragma unroll
      for (int e = 0; e < kChunk<T>; ++e) {
        const float unit = ((Number(chunk.at[e]) - m.mean) - m.rest) * scale;
        Put(unit * affine.weight[e] + affine.bias[e], &chunk.at[e]);
      }
      StoreChunk(chunk, out + at + i);
    });
    return;
  }
  // Again in f64, from memory: few rows come here.
  Row::Sync();  // the threads read what others have written
  const auto get = [&](int i) { return Number(from[i]); };
  m = ComputeWideMoments<kLayer, Row, float>(p.width, p.per_element, p.eps, get);
  for (int i = Row::Rank(); i < p.width; i += kThreads) {
    float y = m.Unit(get(i)) * NumberAt<float>(p.weight, weight, i);
    if (p.has_bias) y += NumberAt<float>(p.weight, bias, i);
    Put(y, out + at + i);
  }
}

}  // namespace
}  // namespace kk_cuda

#define KK_NORM(norm, is_layer, name, T, threads)                                                                 \
  extern "C" __global__ void __launch_bounds__(kk_cuda::Team<threads>::kBlock, (threads > 128 ? 2 : 6))           \
      norm##_held_##name##_##threads(const T* x, const T* residual, const void* weight, const void* bias, T* out, \
                                     T* sum, const __grid_constant__ kk_cuda::NormParams p) {                     \
    kk_cuda::Norm<is_layer, threads>(x, residual, weight, bias, out, sum, p);                                     \
  }
#define KK_NORMS(name, T, threads)            \
  KK_NORM(layer_norm, true, name, T, threads) \
  KK_NORM(rms_norm, false, name, T, threads)
#define KK_NORMS_OF(name, T) KK_NORMS(name, T, 32) KK_NORMS(name, T, 128) KK_NORMS(name, T, 512)
KK_NORMS_OF(f32, float)
KK_NORMS_OF(f16, __half)
KK_NORMS_OF(bf16, __nv_bfloat16)
