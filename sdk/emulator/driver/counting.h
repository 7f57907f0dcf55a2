// Counts of this process's kernels, as JSON. Counting is on between calls of control.h's kernpack_emulator_count, or during the whole
// process; then the counts are written to the file that KERNPACK_EMULATOR_COUNTS names.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_COUNTING_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_COUNTING_H_

#include <string>

#include "exec/block.h"

namespace kernpack::cuda {

// True if launches are counted.
bool Counting();
// Begins to count, or ends; either forgets what was counted.
void Count(bool on);
// Adds a launch that has ended on a device of compute capability `arch` (90 is sm_90).
void AddCounts(int arch, const emulator::Launch& launch, const emulator::Counts& counts);
std::string CountsText();

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_COUNTING_H_
