// packed_linear of f16 and bf16 by tensor cores. The 16 rows of a group of the weight are those of a tile, eight rows of x its columns.
// The warps of a block share the columns of the weight. Values become numbers of x's type exactly, and their products are scaled in
// f32: so neither x nor the weight is rounded.
#include "finish.cuh"
#include "integers.cuh"
#include "packed.cuh"

namespace kk_cuda {
namespace {

constexpr int kWarps = kLinearThreads / 32;

// Four values of row `row` of a block: of columns 16 step + 4 quarter and the next.
template <PackedFormat F>
__device__ inline uint32_t FourValues(const unsigned* words, int row, int step, int quarter) {
  using Traits = kk::PackedTraits<F>;
  if constexpr (Traits::kBits == 8) return words[16 * (4 * step + quarter) + row];
  const uint32_t low = words[16 * quarter + row] >> (4 * step) & 0x0f0f0f0f;
  if constexpr (Traits::kBits == 4) return low;
  return low | (words[16 * (4 + step) + row] >> (2 * quarter) & 0x03030303) << 4;
}

// A tile of the weight, as MultiplyAdd() takes it: of a lane, rows lane / 4 and 8 later, and columns 4 (lane % 4) to the third after
// it. Tensor cores number columns otherwise, but those of x the same way.
template <PackedFormat F, class T>
__device__ inline void WeightTile(uint32_t (&tile)[4], const unsigned* words, int step) {
  using Traits = kk::PackedTraits<F>;
  const int row = threadIdx.x % 32 / 4, quarter = threadIdx.x % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const uint32_t values = FourValues<F>(words, row + 8 * half, step, quarter);
    tile[half] = TwoNumbers<Traits::kBits, Traits::kOffset>(values, 0, T());
    tile[2 + half] = TwoNumbers<Traits::kBits, Traits::kOffset>(values, 2, T());
  }
}

// Eight rows of x times kGroups groups of the weight, kTiles times.
template <PackedFormat F, int kGroups, int kTiles, class T>
struct Products {
  using Traits = kk::PackedTraits<F>;
  static constexpr bool kHasMinima = Traits::kOffset == 0;

  float sums[kGroups][kTiles][4] = {};

  // The columns of a block; x: where this lane's are in the first row of each tile, null beyond the last row.
  __device__ void AddBlock(const kk::BlockCursor<F> (&at)[kGroups], const T* const (&x)[kTiles]) {
    uint2 numbers[2][kTiles];
#pragma unroll
    for (int i = 0; i < 2 * kTiles; ++i) {
      const T* const from = x[i % kTiles];
      numbers[i / kTiles][i % kTiles] =
          from ? *reinterpret_cast<const uint2*>(from + 16 * (i / kTiles)) : make_uint2(0, 0);
    }
    float of_x[kTiles][4] = {};  // the sum of each row of x
    if constexpr (kHasMinima) {
      const uint32_t one = PackPair<T>(1, 1), ones[4] = {one, one, one, one};
#pragma unroll
      for (int i = 0; i < 2 * kTiles; ++i) {
        MultiplyAdd<T>(of_x[i % kTiles], ones, numbers[i / kTiles][i % kTiles].x, numbers[i / kTiles][i % kTiles].y);
      }
    }
    const int row = threadIdx.x % 32 / 4;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      float dots[kTiles][4] = {};
#pragma unroll
      for (int step = 0; step < 2; ++step) {
        uint32_t tile[4];
        WeightTile<F, T>(tile, reinterpret_cast<const unsigned*>(at[g].block()), step);
#pragma unroll
        for (int n = 0; n < kTiles; ++n) MultiplyAdd<T>(dots[n], tile, numbers[step][n].x, numbers[step][n].y);
        if (Traits::kHalves == 1 && step == 0) continue;
        const kk::ScaleAndMinimum of[2] = {kk::UnpackScale<F>(at[g], row, 16 * step),
                                           kk::UnpackScale<F>(at[g], row + 8, 16 * step)};
#pragma unroll
        for (int i = 0; i < 4 * kTiles; ++i) {
          float& sum = sums[g][i / 4][i % 4];
          sum += of[i % 4 / 2].d * dots[i / 4][i % 4];
          if (kHasMinima) sum += of[i % 4 / 2].m * of_x[i / 4][i % 2];
          dots[i / 4][i % 4] = 0;
        }
      }
    }
  }
};

// `blocks` blocks, from those where the cursors of the groups are. The rows of x move on, too.
template <PackedFormat F, int kTiles, class T, class... Cursor>
__device__ inline auto MultiplyBlocks(int blocks, const T* (&x)[kTiles], Cursor... of_groups) {
  constexpr int kGroups = sizeof...(of_groups);
  kk::BlockCursor<F> at[] = {of_groups...};
  Products<F, kGroups, kTiles, T> products;
  for (; blocks > 0; --blocks) {
    products.AddBlock(at, x);
#pragma unroll
    for (int g = 0; g < kGroups; ++g) at[g].Next();
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      if (x[n]) x[n] += kk::kBlockColumns;
    }
  }
  return products;
}

template <int kGroups, int kTiles>
using WarpSums = float[kWarps][8 * kTiles][16 * kGroups + 4];  // the last four: rows begin in other banks

template <PackedFormat F, int kGroups, int kTiles, class T>
__device__ void Multiply(const T* x, const kk::PackedWeight& weight, const Result<T>& result,
                         const PackedLinearParams& p, WarpSums<kGroups, kTiles>& of_warps) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const long long group = static_cast<long long>(blockIdx.x) * kGroups, first = blockIdx.y * 8LL * kTiles;
  const int blocks = static_cast<int>(weight.blocks_per_group());
  const int begin = blocks * warp / kWarps, count = blocks * (warp + 1) / kWarps - begin;
  const T* of_rows[kTiles];
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
    const long long row = first + 8 * n + lane / 4;
    of_rows[n] = row < p.rows ? x + row * p.weight.columns + begin * kk::kBlockColumns + 4 * (lane % 4) : nullptr;
  }
  const auto products = [&] {
    const kk::BlockCursor<F> at(weight, group, begin);
    if constexpr (kGroups == 1) {
      return MultiplyBlocks<F>(count, of_rows, at);
    } else {  // beyond the last group: that again, for nothing
      const long long next = group + 1 < weight.groups() ? group + 1 : group;
      return MultiplyBlocks<F>(count, of_rows, at, kk::BlockCursor<F>(weight, next, begin));
    }
  }();
#pragma unroll
  for (int i = 0; i < kGroups * kTiles * 4; ++i) {
    const int g = i / (4 * kTiles), n = i / 4 % kTiles, e = i % 4;
    of_warps[warp][8 * n + 2 * (lane % 4) + e % 2][16 * g + lane / 4 + 8 * (e / 2)] = products.sums[g][n][e];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 8 * kTiles * 16 * kGroups; i += kLinearThreads) {
    const int m = i / (16 * kGroups), r = i % (16 * kGroups);
    const long long column = group * 16 + r;
    if (first + m >= p.rows || column >= weight.rows) continue;
    float sum = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) sum += of_warps[w][m][r];
    Finish(sum, result, p, first + m, column);
  }
}

template <int kGroups, int kTiles, class T>
__device__ void PackedLinear(const T* x, const unsigned char* packed, const Result<T>& result,
                             const PackedLinearParams& p) {
  __shared__ WarpSums<kGroups, kTiles> of_warps;  // of whatever format
  WithPacked(packed, p.weight, [&](auto format, const kk::PackedWeight& weight) {
    Multiply<decltype(format)::value, kGroups, kTiles>(x, weight, result, p, of_warps);
  });
}

}  // namespace
}  // namespace kk_cuda

// For up to so many rows of x at a time.
#define KK_PACKED_LINEAR(rows, name, T)                                                                              \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kLinearThreads, rows > 16 ? 1 : 2)                           \
      packed_linear_mma_##rows##_##name(const T* x, const unsigned char* weight, const T* bias, const T* residual,   \
                                        T* out, kk_cuda::PackedLinearParams p) {                                     \
    kk_cuda::PackedLinear<kk_cuda::LinearGroups(rows), rows / 8>(x, weight, kk_cuda::Result<T>{bias, residual, out}, \
                                                                 p);                                                 \
  }
#define KK_PACKED_LINEARS(name, T) \
  KK_PACKED_LINEAR(8, name, T)     \
  KK_PACKED_LINEAR(16, name, T)    \
  KK_PACKED_LINEAR(32, name, T)
KK_PACKED_LINEARS(f16, __half)
KK_PACKED_LINEARS(bf16, __nv_bfloat16)
