// Products of tiles in shared memory by tensor cores, 16 rows of a warp at a time. A lane has rows lane / 4 (numbers 0 and 1 of each
// four) and 8 later (2 and 3), of columns 2 (lane % 4) and the next.
#pragma once

#include "common/cuda/tile.cuh"

namespace kk_cuda {

constexpr int kMmaThreads = 128;

// `kCount` rows of `width` numbers; row_of(r): where row r begins, null for zeros. `any` is read nowhere.
template <int kWidth, int kCount, class T, class GetRow>
__device__ inline void CopyTile(T* tile, const T* any, int width, const GetRow& row_of) {
  constexpr int kChunks = kWidth / kTileChunk;
#pragma unroll 2
  for (int i = threadIdx.x; i < kCount * kChunks; i += kMmaThreads) {
    const int r = i / kChunks, chunk = i % kChunks;
    const T* const row = row_of(r);
    const bool there = row && chunk * kTileChunk < width;
    CopyChunk(tile + TileOffset<kWidth>(r, chunk), there ? row + chunk * kTileChunk : any, there);
  }
}

// `kCount` rows, `stride` apart, of which `count` are there; zeros for the others. A thread copies one chunk of every few rows: so
// it adds up addresses instead of forming each.
template <int kWidth, int kCount, class T>
__device__ inline void CopyRows(T* tile, const T* rows, long long stride, int width, int count) {
  constexpr int kChunks = kWidth / kTileChunk, kStep = kMmaThreads / kChunks;
  static_assert(kStep % 8 == 0 && kCount % kStep == 0, "the swizzle is the same in all rows of a thread");
  const int first = static_cast<int>(threadIdx.x) / kChunks, chunk = static_cast<int>(threadIdx.x) % kChunks;
  T* const to = tile + TileOffset<kWidth>(first, chunk);
  const T* from = rows + first * stride + chunk * kTileChunk;
  const int there = chunk * kTileChunk < width ? count : 0;
#pragma unroll
  for (int r = 0; r < kCount; r += kStep, from += kStep * stride) {
    const bool copied = first + r < there;
    CopyChunk(to + r * kWidth, copied ? from : rows, copied);
  }
}

// Where ldmatrix reads: chunk `chunk`, a multiple of 2, of rows that are a multiple of 16 after those of Lane's. TileOffset()'s swizzle is
// an exclusive or of bits that rows leave alone, so it is found once for a lane. Tiles begin at multiples of 128 bytes or of a row.
template <int kWidth>
struct Lane {
  uint32_t at;

  __device__ Lane(const void* tile, int row, int chunk)
      : at(SharedAddress(tile) + static_cast<uint32_t>(TileOffset<kWidth>(row, chunk)) * 2) {}
  __device__ uint32_t Chunk(int chunk) const { return at ^ static_cast<uint32_t>(chunk * kTileChunk * 2); }
};

// scores[m][n]: rows 16 m of `own` times row 8 n and the 7 after it of `others`.
template <int kWidth, int kM, int kN, class T>
__device__ inline void Dots(float (&scores)[kM][kN][4], const T* own, const T* others, int lane) {
  constexpr uint32_t kRow = kWidth * 2;
  const Lane<kWidth> of_own(own, lane & 15, lane >> 4), of_others(others, (lane >> 4) * 8 + (lane & 7), lane >> 3 & 1);
#pragma unroll
  for (int i = 0; i < kM * kN * 4; ++i) scores[i / (kN * 4)][i / 4 % kN][i % 4] = 0;
#pragma unroll
  for (int d = 0; d < kWidth; d += 16) {
    const uint32_t a_at = of_own.Chunk(d / kTileChunk), b_at = of_others.Chunk(d / kTileChunk);
    uint32_t a[kM][4];
#pragma unroll
    for (int m = 0; m < kM; ++m) LoadMatrices(a[m], a_at + 16 * m * kRow);
#pragma unroll
    for (int n = 0; n < kN; n += 2) {
      uint32_t b[4];
      LoadMatrices(b, b_at + n * 8 * kRow);
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
  constexpr uint32_t kRow = kWidth * 2;
  const Lane<kWidth> of_values(values, lane & 15, lane >> 4);
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
      LoadTransposed(b, of_values.Chunk(n) + j * 16 * kRow);
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        MultiplyAdd<T>(sums[m][n], a[m], b[0], b[1]);
        MultiplyAdd<T>(sums[m][n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

// Two numbers at a time: of a lane's sums of 16 rows its first row or, if `half` is 1, the one 8 later, times `by`.
template <int kWidth, class T>
__device__ inline void StoreSums(const float (&sums)[kWidth / 8][4], int half, float by, T* row, int width, int lane) {
#pragma unroll
  for (int n = 0; n < kWidth / 8; ++n) {
    if (n * 8 >= width) continue;
    const float* const two = &sums[n][half * 2];
    *reinterpret_cast<uint32_t*>(row + n * 8 + (lane & 3) * 2) = PackPair<T>(two[0] * by, two[1] * by);
  }
}

// In a loop whose sums fill the registers: else the addresses of all its tiles' rows, which depend on the lane alone, are kept in
// registers from one iteration to the next, and others are spilled.
__device__ inline void KeepAddressesOut(int& lane) { asm volatile("" : "+r"(lane)); }

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
