// Loads and stores of global memory by one thread of a warp: a block of one thread, or the part of a kernel that one thread does.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_ONE_ACCESS_H_
#define KERNPACK_SDK_EMULATOR_EXEC_ONE_ACCESS_H_

#include <cstdint>

#include "exec/warp.h"
#include "program/program.h"

namespace kernpack::emulator {

// False where nothing was done: the access isn't by one thread to global memory, or isn't known to be right. `slots` of the values as in
// Program::extra.
bool LoadOne(Warp& warp, const Instruction& instruction, uint32_t mask, const uint32_t* slots);
bool StoreOne(Warp& warp, const Instruction& instruction, uint32_t mask, const uint32_t* slots);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_ONE_ACCESS_H_
