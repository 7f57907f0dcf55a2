// Code that the attention kernels for sm_90 share. Tiles in shared memory are columns of 64 numbers, one behind the other, of kRows rows.
#pragma once

#include "online_rows.cuh"
#include "sm90.h"

#include "common/cuda/tensor_copy.cuh"
#include "common/cuda/wgmma.cuh"

namespace kk_cuda {

constexpr int kConsumers = 256, kGroupRows = 64;  // threads that multiply; rows of 128 of them
constexpr int kConsumerRegisters = 240, kProducerRegisters = 24;

// Where chunk `chunk` of row r is in a tile.
template <int kRows>
__device__ inline int ColumnsOffset(int r, int chunk) {
  constexpr int kChunks = kSwizzled / kTileChunk;
  return chunk / kChunks * kRows * kSwizzled + TileOffset<kSwizzled>(r, chunk % kChunks);
}

// Rows from `row` on of a head of an item. One thread.
template <int kWidth, int kRows, class T>
__device__ inline void CopyColumns(T* to, const TensorMap& from, int row, int head, int batch, uint64_t* barrier) {
#pragma unroll
  for (int column = 0; column < kWidth; column += kSwizzled) {
    CopyBox(to + column * kRows, from, column, row, head, batch, barrier);
  }
}

// Zeros for the rows from `from` on, by all threads that multiply.
template <int kWidth, int kRows, class T>
__device__ inline void ClearRows(T* tile, int from) {
  constexpr int kChunks = kSwizzled / kTileChunk;
  const int count = (kRows - from) * kChunks;
#pragma unroll
  for (int column = 0; column < kWidth; column += kSwizzled) {
    uint4* const chunks = reinterpret_cast<uint4*>(tile + column * kRows + from * kSwizzled);
    for (int i = threadIdx.x; i < count; i += kConsumers) chunks[i] = uint4{};
  }
  PublishWrites();
  SyncSome(1, kConsumers);
}

// A lane's part of 64 rows of numbers, as GroupAdd() takes 16 columns of them at a time.
template <class T, int kN>
__device__ inline void PackRows(uint32_t (&packed)[kN / 2][4], const float (&numbers)[kN][4]) {
#pragma unroll
  for (int i = 0; i < kN * 2; ++i) {
    const float* const two = &numbers[i / 4 * 2 + i % 4 / 2][i % 2 * 2];
    packed[i / 4][i % 4] = PackPair<T>(two[0], two[1]);
  }
}

// sums += rows times a tile's, which are kRows: a row of the tile for each column of `rows`.
template <int kWidth, int kRows, class T>
__device__ inline void BeginSums(float (&sums)[kWidth / 8][4], uint32_t (&rows)[kRows / 16][4], const T* tile) {
  const uint64_t of_tile = Describe(tile, kRows * kSwizzled * sizeof(T));
  Pin(sums);
  Pin(rows);
  BeginProducts();
#pragma unroll
  for (int j = 0; j < kRows / 16; ++j) GroupAdd<T>(sums, rows[j], of_tile + RowsOn(16 * j));
  CommitProducts();
}

// dots = 64 rows of one tile of kOwn rows times those of another one of kOthers.
template <int kWidth, int kOwn, int kOthers, class T>
__device__ inline void BeginDots(float (&dots)[kOthers / 8][4], const T* own, const T* others) {
  const uint64_t of_own = Describe(own, 16), of_others = Describe(others, 16);
  Pin(dots);
  BeginProducts();
#pragma unroll
  for (int d = 0; d < kWidth; d += 16) {
    const uint64_t within = d % kSwizzled / 16 * kSixteenColumns;
    GroupDots<T>(dots, of_own + RowsOn(d / kSwizzled * kOwn) + within,
                 of_others + RowsOn(d / kSwizzled * kOthers) + within, d > 0);
  }
  CommitProducts();
}

}  // namespace kk_cuda
