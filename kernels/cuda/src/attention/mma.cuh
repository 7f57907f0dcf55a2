// Products of tiles in shared memory by tensor cores, 16 rows of a warp at a time. A lane has rows lane / 4 (numbers 0 and 1 of each
// four) and 8 later (2 and 3), of columns 2 (lane % 4) and the next.
#pragma once

#include "tile.cuh"

namespace kk_cuda {

constexpr int kMmaThreads = 128;

// `kCount` rows of `width` numbers; row_of(r): where row r begins, null for zeros. `any` is read nowhere.
template <int kWidth, int kCount, class T, class RowOf>
__device__ inline void CopyTile(T* tile, const T* any, int width, const RowOf& row_of) {
  constexpr int kChunks = kWidth / kChunk;
#pragma unroll 2
  for (int i = threadIdx.x; i < kCount * kChunks; i += kMmaThreads) {
    const int r = i / kChunks, chunk = i % kChunks;
    const T* const row = row_of(r);
    const bool there = row && chunk * kChunk < width;
    CopyChunk(tile + TileOffset<kWidth>(r, chunk), there ? row + chunk * kChunk : any, there);
  }
}

// scores[m][n]: rows 16 m of `own` times row 8 n and the 7 after it of `others`.
template <int kWidth, int kM, int kN, class T>
__device__ inline void Dots(float (&scores)[kM][kN][4], const T* own, const T* others, int lane) {
#pragma unroll
  for (int i = 0; i < kM * kN * 4; ++i) scores[i / (kN * 4)][i / 4 % kN][i % 4] = 0;
#pragma unroll
  for (int d = 0; d < kWidth; d += 16) {
    uint32_t a[kM][4];
#pragma unroll
    for (int m = 0; m < kM; ++m)
      LoadMatrices(a[m], own + TileOffset<kWidth>(16 * m + (lane & 15), d / kChunk + (lane >> 4)));
#pragma unroll
    for (int n = 0; n < kN; n += 2) {
      uint32_t b[4];
      LoadMatrices(b,
                   others + TileOffset<kWidth>(n * 8 + (lane >> 4) * 8 + (lane & 7), d / kChunk + ((lane >> 3) & 1)));
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        MultiplyAdd<T>(scores[m][n], a[m], b[0], b[1]);
        MultiplyAdd<T>(scores[m][n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

// sums += weights * values: a row of values for each column of weights, which are rounded to T.
template <int kWidth, int kM, int kN, class T>
__device__ inline void AddProduct(float (&sums)[kM][kWidth / 8][4], const float (&weights)[kM][kN][4], const T* values,
                                  int lane) {
#pragma unroll
  for (int j = 0; j < kN / 2; ++j) {
    uint32_t a[kM][4];
#pragma unroll
    for (int i = 0; i < kM * 4; ++i) {
      const float* const two = &weights[i / 4][2 * j + i % 4 / 2][i % 2 * 2];
      a[i / 4][i % 4] = PackPair<T>(two[0], two[1]);
    }
#pragma unroll
    for (int n = 0; n < kWidth / 8; n += 2) {
      uint32_t b[4];
      LoadTransposed(b, values + TileOffset<kWidth>(j * 16 + (lane & 15), n + (lane >> 4)));
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        MultiplyAdd<T>(sums[m][n], a[m], b[0], b[1]);
        MultiplyAdd<T>(sums[m][n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

// Over the four lanes of a row.
__device__ inline float QuadMax(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
__device__ inline float QuadSum(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

}  // namespace kk_cuda
