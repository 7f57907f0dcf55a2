// The kernels of fused_linear_cross_entropy, which never store the logits as a whole. By: what computes a tile of a product.
#pragma once

#include "common/cuda/chunks.cuh"
#include "common/cuda/tail.cuh"
#include "fused_tile.cuh"

namespace kk_cuda {

// Of a row of results, those from `column` on that exist.
template <class T>
__device__ inline void StoreFour(const float (&of)[4], T* row, int column, const FusedParams& p) {
  Numbers<T, 4> four;
#pragma unroll
  for (int e = 0; e < 4; ++e) Put(of[e], &four.at[e]);
  if (p.fours) {
    if (column < p.width) *reinterpret_cast<Numbers<T, 4>*>(row + column) = four;
    return;
  }
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    if (column + e < p.width) row[column + e] = four.at[e];
  }
}

// The logits of a tile of x's rows and of the weight's, in `memory`.
template <class By, class T>
__device__ inline ResultTile Logits(const T* x, const T* weight, const void* targets, int row, int first_class,
                                    const FusedParams& p, unsigned char* memory) {
  const auto a = LoadFactor<Order::kAlongSum>(x, p.width, row, Counted{targets, p}, All{p.width});
  const auto b = LoadFactor<Order::kAlongSum>(weight, p.width, first_class, All{p.classes}, All{p.width});
  By::template Multiply<T>(a, b, p.width, memory);
  return reinterpret_cast<ResultTile>(memory);
}

// Of a stripe of classes and for each row: the largest logit, the sum of exp(logit - that), and the sum of logits. `partial` is
// [stripes, 3, rows]. The logit of a row's target goes to `of_targets`.
template <class By, class T>
__device__ void Forward(const T* x, const T* weight, const void* targets, float* partial, float* of_targets,
                        const FusedParams& p) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ Tail<float> tails[kFusedTile];
  __shared__ float totals[kFusedTile];
  const int first = blockIdx.x * kFusedTile, lane = threadIdx.x % 32;
  for (int n = 0; n < kFusedStripe; ++n) {
    const int first_class = (static_cast<int>(blockIdx.y) * kFusedStripe + n) * kFusedTile;
    if (first_class >= p.classes) break;
    ForRows(Logits<By>(x, weight, targets, first, first_class, p, memory), [&](int r, int column, const float(&of)[4]) {
      const int row = first + r;
      if (row >= p.rows) return;
      const long long hit = LoadTarget(p, targets, row) - first_class - column;
      float largest = Lowest<float>(), total = 0, sum = 0;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if (first_class + column + e >= p.classes) continue;
        largest = fmaxf(largest, of[e]), total += of[e];
        if (hit == e) of_targets[row] = of[e];
      }
      largest = Team<32>::Max(largest);
      const float origin = largest == Lowest<float>() ? 0 : largest;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if (first_class + column + e < p.classes) sum += expf(of[e] - origin);
      }
      float sums[2] = {sum, total};
      Team<32>::Sum(sums);
      if (lane != 0) return;
      Tail<float> tail = {largest, sums[0]};
      if (n > 0) tail = tails[r], tail.Add({largest, sums[0]}), sums[1] += totals[r];
      tails[r] = tail, totals[r] = sums[1];
    });
  }
  __syncthreads();
  const int row = first + threadIdx.x;
  if (threadIdx.x >= kFusedTile || row >= p.rows) return;
  float* const to = partial + 3LL * blockIdx.y * p.rows + row;
  to[0] = tails[threadIdx.x].largest, to[p.rows] = tails[threadIdx.x].sum, to[2LL * p.rows] = totals[threadIdx.x];
}

// The slope of the loss by each logit of a chunk of classes: [rows, stride], zeros beyond the chunk's last class.
template <class By, class T>
__device__ void Slopes(const float* d_loss, const T* x, const T* weight, const void* targets, const float* lse,
                       T* slopes, const FusedParams& p) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int first = blockIdx.x * kFusedTile, first_column = blockIdx.y * kFusedTile;
  ForRows(Logits<By>(x, weight, targets, first, p.first + first_column, p, memory), [&](int r, int column,
                                                                                        const float(&of)[4]) {
    const int row = first + r;
    if (row >= p.rows) return;
    const Slope slope(p, LoadTarget(p, targets, row), lse[row], d_loss[row]);
    Numbers<T, 4> four;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int at = first_column + column + e;
      Put(at < p.count ? slope.Of(of[e], p.first + at) : 0.0f, &four.at[e]);
    }
    *reinterpret_cast<Numbers<T, 4>*>(slopes + static_cast<long long>(row) * p.stride + first_column + column) = four;
  });
}

// d_x: the slopes times the weight, over the chunks. `sums` holds it in f32 until the last one.
template <class By, class T>
__device__ void GradientOfX(const T* slopes, const T* weight, float* sums, T* d_x, const FusedParams& p) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int first = blockIdx.x * kFusedTile, first_column = blockIdx.y * kFusedTile;
  const auto a = LoadFactor<Order::kAlongSum>(slopes, p.stride, first, All{p.rows}, All{p.stride});
  const auto b = LoadFactor<Order::kAcrossSum>(weight + static_cast<long long>(p.first) * p.width, p.width,
                                               first_column, All{p.width}, All{p.count});
  By::template Multiply<T>(a, b, p.count, memory);
  ForRows(reinterpret_cast<ResultTile>(memory), [&](int r, int column, const float(&of)[4]) {
    if (first + r >= p.rows) return;
    const long long row = static_cast<long long>(first + r) * p.width;
    const int at = first_column + column;
    float sum[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) sum[e] = p.begins || at + e >= p.width ? of[e] : sums[row + at + e] + of[e];
    if (p.ends) {
      StoreFour(sum, d_x + row, at, p);
    } else {
      StoreFour(sum, sums + row, at, p);
    }
  });
}

// d_weight of the chunk's classes: the slopes, transposed, times x.
template <class By, class T>
__device__ void GradientOfWeight(const T* slopes, const T* x, const void* targets, T* d_weight, const FusedParams& p) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int first = blockIdx.x * kFusedTile, first_column = blockIdx.y * kFusedTile;
  const Counted counted = {targets, p};
  const auto a = LoadFactor<Order::kAcrossSum>(slopes, p.stride, first, All{p.stride}, counted);
  const auto b = LoadFactor<Order::kAcrossSum>(x, p.width, first_column, All{p.width}, counted);
  By::template Multiply<T>(a, b, p.rows, memory);
  ForRows(reinterpret_cast<ResultTile>(memory), [&](int r, int column, const float(&of)[4]) {
    if (first + r >= p.count) return;
    StoreFour(of, d_weight + static_cast<long long>(p.first + first + r) * p.width, first_column + column, p);
  });
}

}  // namespace kk_cuda

#define KK_FUSED_KERNEL extern "C" __global__ void __launch_bounds__(kk_cuda::kFusedThreads, 2)
#define KK_FUSED(by, name, T)                                                                                        \
  KK_FUSED_KERNEL fused_forward_##name(const T* x, const T* weight, const void* targets, float* partial,             \
                                       float* of_targets, const __grid_constant__ kk_cuda::FusedParams p) {          \
    kk_cuda::Forward<by>(x, weight, targets, partial, of_targets, p);                                                \
  }                                                                                                                  \
  KK_FUSED_KERNEL fused_slopes_##name(const float* d_loss, const T* x, const T* weight, const void* targets,         \
                                      const float* lse, T* slopes, const __grid_constant__ kk_cuda::FusedParams p) { \
    kk_cuda::Slopes<by>(d_loss, x, weight, targets, lse, slopes, p);                                                 \
  }                                                                                                                  \
  KK_FUSED_KERNEL fused_d_x_##name(const T* slopes, const T* weight, float* sums, T* d_x,                            \
                                   const __grid_constant__ kk_cuda::FusedParams p) {                                 \
    kk_cuda::GradientOfX<by>(slopes, weight, sums, d_x, p);                                                          \
  }                                                                                                                  \
  KK_FUSED_KERNEL fused_d_weight_##name(const T* slopes, const T* x, const void* targets, T* d_weight,               \
                                        const __grid_constant__ kk_cuda::FusedParams p) {                            \
    kk_cuda::GradientOfWeight<by>(slopes, x, targets, d_weight, p);                                                  \
  }
