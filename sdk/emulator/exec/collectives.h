// Instructions in which the lanes of a warp see each other. Operand 5 is the member mask.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_COLLECTIVES_H_
#define KERNPACK_SDK_EMULATOR_EXEC_COLLECTIVES_H_

#include "program/program.h"

namespace kernpack::emulator {

// Operands: 0 destination, 1 predicate or none, 2 to 4 sources. Variants: 0 up, 1 down, 2 bfly, 3 idx.
void RunShuffle(Warp& warp, const Instruction& instruction, uint32_t mask);
// Operands: 0 destination, 1 predicate (negated by kNegateC). Variants: 0 all, 1 any, 2 uni, 3 ballot.
void RunVote(Warp& warp, const Instruction& instruction, uint32_t mask);
// Operands: 0 destination, 1 predicate or none, 2 source. Variants: 0 any, 1 all.
void RunMatch(Warp& warp, const Instruction& instruction, uint32_t mask);
// Operands: 0 destination, 1 source. Variants: 0 add, 1 min, 2 max, 3 and, 4 or, 5 xor.
void RunReduce(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunActiveMask(Warp& warp, const Instruction& instruction, uint32_t mask);
// Operands: 0 destination or none, 1 predicate.
void RunElect(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunTrap(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunClock(Warp& warp, const Instruction& instruction, uint32_t mask);
// __assertfail: operands 0 to 2 are its parameters (message, file, line) in local memory, displacements in Program::extra.
void RunAssertFail(Warp& warp, const Instruction& instruction, uint32_t mask);
// vprintf: the format's and the arguments' parameters in local memory, and operand 0 for the result's.
void RunPrint(Warp& warp, const Instruction& instruction, uint32_t mask);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_COLLECTIVES_H_
