// packed_linear of any type and alignment, for a few rows of x: a block per 16 rows of the weight and up to kLinearRows rows of x. Its warps share the columns; in a
// warp, lanes r and 16 + r have row r. Activations aren't rounded: sums are f32.
#include "finish.cuh"
#include "packed.cuh"

namespace kk_cuda {
namespace {

constexpr int kWarps = kLinearThreads / 32;

template <class T>
__device__ inline void Load4(const T* from, float (&to)[4]) {
#pragma unroll
  for (int j = 0; j < 4; ++j) to[j] = Number(from[j]);
}

// sum += what the lane's columns of a block come to, for each row of x.
template <PackedFormat F, class T, int kRows>
struct LaneOfBlock {
  using Traits = kk::PackedTraits<F>;
  const T* const (&x)[kRows];  // at the block's first column
  int half;  // which of a pair of words the lane reads
  float dots[2][kRows], sums[2][kRows];  // of the columns of each half of the block: values times x, and x

  __device__ LaneOfBlock(const T* const (&x)[kRows], int half) : x(x), half(half), dots{}, sums{} {}

  template <class Value>
  __device__ void Add(int column, const Value& value) {
    const int of = Traits::kHalves == 2 ? column / 16 : 0;
#pragma unroll
    for (int m = 0; m < kRows; ++m) {
      float numbers[4];
      Load4(x[m] + column, numbers);
#pragma unroll
      for (int j = 0; j < 4; ++j) dots[of][m] += numbers[j] * static_cast<float>(value(j)), sums[of][m] += numbers[j];
    }
  }

  __device__ void Read(const unsigned* words, int row) {
    if constexpr (Traits::kBits == 8) {
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const int i = 2 * s + half;
        const unsigned word = words[16 * i + row];
        // The half of the block is that of s: known when this is compiled.
        Add(16 * (s / 2) + 4 * (i % 4), [&](int j) { return word >> (8 * j) & 255; });
      }
    } else {
      unsigned high[2] = {};
      if constexpr (Traits::kBits == 6) high[0] = words[64 + row], high[1] = words[80 + row];
#pragma unroll
      for (int s = 0; s < 2; ++s) {
        const int i = 2 * s + half;
        const unsigned word = words[16 * i + row];
        Add(4 * i, [&](int j) { return (word >> (8 * j) & 15) | (high[0] >> (8 * j + 2 * i) & 3) << 4; });
        Add(16 + 4 * i, [&](int j) { return (word >> (8 * j + 4) & 15) | (high[1] >> (8 * j + 2 * i) & 3) << 4; });
      }
    }
  }
};

using WarpSums = float[kWarps][kLinearRows][16];

template <PackedFormat F, int kRows, class T>
__device__ void Multiply(const T* x, const kk::PackedWeight& weight, const Result<T>& result,
                         const PackedLinearParams& p, WarpSums& of_warps) {
  using Traits = kk::PackedTraits<F>;
  const int warp = threadIdx.x / 32, row = threadIdx.x % 16, half = threadIdx.x % 32 / 16;
  const long long group = blockIdx.x, first = static_cast<long long>(blockIdx.y) * kLinearRows;
  float sums[kRows] = {};
  for (long long block = warp; block < weight.blocks_per_group(); block += kWarps) {
    const T* of_block[kRows];
#pragma unroll
    for (int m = 0; m < kRows; ++m) {
      const long long at = first + m < p.rows ? first + m : first;  // beyond the last row: computed for nothing
      of_block[m] = x + at * p.weight.columns + block * kk::kBlockColumns;
    }
    const kk::BlockCursor<F> at(weight, group, block);
    LaneOfBlock<F, T, kRows> lane(of_block, half);
    lane.Read(reinterpret_cast<const unsigned*>(at.block()), row);
#pragma unroll
    for (int h = 0; h < Traits::kHalves; ++h) {
      const kk::ScaleAndMinimum of = kk::UnpackScale<F>(at, row, 16 * h);
#pragma unroll
      for (int m = 0; m < kRows; ++m) sums[m] += of.d * lane.dots[h][m] + of.m * lane.sums[h][m];
    }
  }
#pragma unroll
  for (int m = 0; m < kRows; ++m) {
    sums[m] += __shfl_xor_sync(~0u, sums[m], 16);
    if (half == 0) of_warps[warp][m][row] = sums[m];
  }
  __syncthreads();
  const int m = threadIdx.x / 16;
  const long long column = group * 16 + row;
  if (m >= kRows || first + m >= p.rows || column >= weight.rows) return;
  float sum = 0;
  for (int w = 0; w < kWarps; ++w) sum += of_warps[w][m][row];
  Finish(sum, result, p, first + m, column);
}

template <class T>
__device__ void PackedLinear(const T* x, const unsigned char* packed, const Result<T>& result,
                             const PackedLinearParams& p) {
  __shared__ WarpSums of_warps;  // of whatever format
  WithPacked(packed, p.weight, [&](auto format, const kk::PackedWeight& weight) {
    constexpr PackedFormat kFormat = decltype(format)::value;
    if (p.rows == 1) {
      Multiply<kFormat, 1>(x, weight, result, p, of_warps);
    } else {
      Multiply<kFormat, kLinearRows>(x, weight, result, p, of_warps);
    }
  });
}

}  // namespace
}  // namespace kk_cuda

#define KK_PACKED_LINEAR(name, T)                                                                             \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kLinearThreads)                                       \
      packed_linear_##name(const T* x, const unsigned char* weight, const T* bias, const T* residual, T* out, \
                           kk_cuda::PackedLinearParams p) {                                                   \
    kk_cuda::PackedLinear(x, weight, kk_cuda::Result<T>{bias, residual, out}, p);                             \
  }
KK_PACKED_LINEAR(f32, float)
KK_PACKED_LINEAR(f16, __half)
KK_PACKED_LINEAR(bf16, __nv_bfloat16)
