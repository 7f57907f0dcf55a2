// The scales of mma.sync with .block_scale: a number for each run of elements along K of a row of A, and of a column of B.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_BLOCK_SCALES_H_
#define KERNPACK_SDK_EMULATOR_EXEC_BLOCK_SCALES_H_

#include <cstdint>

#include "ops/tile.h"
#include "program/program.h"

namespace kernpack::emulator {

// In Program::extra: how many scales a row has, what they are, and the slots of A's scales, byte-id and thread-id, then of B's.
enum class ScaleType : uint8_t { kUe8m0, kUe4m3 };
double ReadScale(ScaleType type, uint8_t bits);

// Multiplies the elements by their scales. Throws Fault for selectors that there aren't, or that differ among the lanes.
void ScaleTile(const Warp& warp, const Instruction& instruction, const uint32_t* operands, Tile* tile);
// Adds the rows and columns whose scales are in registers that hold unwritten words.
void AddUnknownScales(const Warp& warp, const uint32_t* operands, uint32_t* rows, uint32_t* columns);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_BLOCK_SCALES_H_
