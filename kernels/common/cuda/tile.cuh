// Tiles of 16-bit numbers in shared memory, which ldmatrix, wgmma and tensor maps read.
#pragma once

#include "async.cuh"
#include "mma.cuh"

namespace kk_cuda {

constexpr int kTileChunk = 8;  // numbers of 16 bytes, which is what one lane copies at a time

// Where chunk `chunk` of a row lies in a tile [rows, kWidth]: shifted by the row, so that the eight rows which ldmatrix
// reads at once are in different banks.
template <int kWidth>
__device__ inline int TileOffset(int row, int chunk) {
  constexpr int kChunks = kWidth / kTileChunk;
  static_assert(kChunks >= 4, "a row has at least 64 bytes");
  const int shift = kChunks >= 8 ? row & 7 : (row >> 1) & 3;
  return row * kWidth + (chunk ^ shift) * kTileChunk;
}

}  // namespace kk_cuda
