// cp.async. A copy arrives at the latest possible moment: when its thread waits for it. Until then no thread may touch its destination.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_COPIES_H_
#define KERNPACK_SDK_EMULATOR_EXEC_COPIES_H_

#include "exec/access.h"

namespace kernpack::emulator {

// Throws Fault when a lane touches shared memory to which a copy is under way.
void NeedArrived(const Warp& warp, const Instruction& instruction, const Access& access);
// Marks the words to which a copy goes, or unmarks them.
void SetUnderWay(Block* block, const Copy& copy, uint8_t value);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_COPIES_H_
