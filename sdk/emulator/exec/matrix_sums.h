// The sums of mma: D = A * B + C of one tile, whose elements are in doubles, which hold all that the tensor cores take.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_MATRIX_SUMS_H_
#define KERNPACK_SDK_EMULATOR_EXEC_MATRIX_SUMS_H_

#include <cstdint>

#include "exec/matrix.h"

namespace kernpack::emulator {

constexpr uint32_t kColumns = 8, kMostRows = 16, kMostDepth = 32;

struct Tile {
  uint32_t rows, depth;
  Element a, d;
  double of_a[kMostRows][kMostDepth];
  double of_b[kMostDepth][kColumns];
  double sums[kMostRows][kColumns];  // of C, then D's, not yet rounded to D's type
};

// In f64, which holds all but the last bits: as if D were rounded once. Of f64, fma in order.
void SumWide(Tile* tile);
// In f32: in order, or groups of four from the last on.
void SumInFloat(Tile* tile, bool groups_from_the_back);
// As the tensor cores of an H200 do. The manual leaves it open; this gives the bits that one gave (tests/python/ptx).
void SumAsH200(Tile* tile);

// As Launch::mma_order says; sums of f64 and of integers are exact, or as f64's.
void SumInOrder(Tile* tile, uint32_t order);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_MATRIX_SUMS_H_
