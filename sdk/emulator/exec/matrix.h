// Matrices that the 32 lanes of a warp hold together: mma, ldmatrix, stmatrix. All need every lane of the warp.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_MATRIX_H_
#define KERNPACK_SDK_EMULATOR_EXEC_MATRIX_H_

#include "ops/tile.h"
#include "program/program.h"

namespace kernpack::emulator {

// D = A * B + C, all with 8 columns of B. Program::extra: the rows of A, its columns, and what A, B and D are of; then the
// registers of D, A, B and C. kSat: integers don't wrap. The variant: with scales, further slots follow (block_scales.h).
enum class MatrixKind : uint8_t { kPlain, kOfKind, kScaled };
void RunMultiply(Warp& warp, const Instruction& instruction, uint32_t mask);
// Up to four matrices of 8 rows of 16 bytes, whose addresses lanes 0 to 7, 8 to 15 and so on give. `count` of them, each a register
// of Program::extra; variant 1: transposed; `bytes`: 4 or 6, the bits of an element that becomes a byte, or 16. Operand 0 is the address'
// register.
void RunLoadMatrix(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunStoreMatrix(Warp& warp, const Instruction& instruction, uint32_t mask);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_MATRIX_H_
