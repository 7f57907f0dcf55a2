// Code of the host for what the threads of a warp load or store side by side, and for sums of matrices: compiled for each instruction
// set, as the tables are.
#ifndef KERNPACK_SDK_EMULATOR_OPS_ROWS_H_
#define KERNPACK_SDK_EMULATOR_OPS_ROWS_H_

#include <cstdint>

namespace kernpack::emulator {

// The lanes of a mask, each at the same distance from the one before it.
struct Lanes {
  uint32_t mask;
  uint32_t first;  // the first lane of the mask
  uint32_t step;  // bytes from a lane to the next: those that each has, or 0
  uint8_t* host;  // the memory of the first

  uint64_t Offset(uint32_t lane) const { return uint64_t{lane - first} * step; }
};

// Between memory and the registers at `slots`, one for each element of a vector.
struct RowMoves {
  void (*load)(const Lanes& lanes, const uint32_t* slots, unsigned char* registers);
  void (*store)(const Lanes& lanes, const uint32_t* slots, const unsigned char* registers);
};

struct Tile;
struct StripCode;

struct RowCode {
  // True if the 32 values are first, first + step, first + 2 * step, ...
  bool (*steps8)(const uint64_t* values, uint64_t first, uint64_t step);
  bool (*steps4)(const uint32_t* values, uint32_t first, uint32_t step);
  // Of vectors of `count` elements of `bytes` in registers of 4, or `wide`: 8 bytes a lane. Empty where there are none.
  RowMoves (*moves)(uint32_t bytes, uint32_t count, bool wide, bool is_signed);
  // D = A * B + C of a tile, with the order of Launch::mma_order; sums of integers are exact, and those of f64 as by fma.
  void (*sum_tile)(Tile* tile, uint32_t order);
  const StripCode* strips;  // for sums that are most often asked for, 16 rows at once
};

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_OPS_ROWS_H_
