// Values read from shared memory that nothing has written. A tile's threads beyond the edge read such words and throw the result
// away, which is right; so a read marks its lanes, what is computed from them is marked too, and only a use that shows is an
// error: an address, a jump, a value stored to global memory. Costs nothing until a warp first reads such a word.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_TAINT_H_
#define KERNPACK_SDK_EMULATOR_EXEC_TAINT_H_

#include <cstdint>

#include "exec/warp.h"
#include "program/program.h"

namespace kernpack::emulator {

// Lanes of a register that are marked.
uint32_t Tainted(const Warp& warp, uint32_t slot);
// Marks lanes of the mask, or clears them. `instruction` read the words: it is named when the value is used.
void SetTaint(Warp& warp, uint32_t slot, uint32_t mask, uint32_t tainted);
// In place of an address of shared memory.
constexpr uint64_t kOfTensorMemory = ~uint64_t{0};
void TaintFrom(Warp& warp, const Instruction& instruction, uint32_t lane, uint64_t address);
// After an instruction of the tables: its destination is as its sources are.
void CarryTaint(Warp& warp, const Instruction& instruction, uint32_t mask);
// Throws Fault when one of the lanes in the mask is marked.
void NeedUntainted(const Warp& warp, const Instruction& instruction, uint32_t slot, uint32_t mask, const char* use);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_TAINT_H_
