// The processor that variants are chosen for.
#ifndef KERNPACK_SRC_DEVICES_TARGET_CPU_MACHINE_H_
#define KERNPACK_SRC_DEVICES_TARGET_CPU_MACHINE_H_

#include <string>

#include "shared/target/cpu_spec.h"

namespace kernpack::host {

// The features of this processor.
// Read once. With what the operating system saves counted in. Matrix tiles (amx) are among it, though a process has to ask for them.
const CpuSpec& DetectedCpu();

// A processor of this architecture, or one that isn't known, without matrix tiles and what needs them.
CpuSpec WithoutTiles(CpuSpec cpu);

// Asks Linux for matrix tiles, and returns true if this process has them. Linux refuses if a thread's signal stack is too small for tiles,
// and refuses such stacks afterwards: hence only where code that uses tiles would run. Linux's Documentation/arch/x86/xstate.rst.
bool AskForTiles();

// This processor, without what KERNPACK_TARGET ("llvm -mcpu=x86-64-v2") does not name: it takes away and never adds. Returns
// 0, or -1 with ValueError raised where that isn't a target for a processor of this architecture.
int MachineCpu(CpuSpec* out);

// As a target: "llvm -mattr=+adx,+aes -mcpu=x86-64-v3".
std::string CpuTarget(const CpuSpec& cpu);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_TARGET_CPU_MACHINE_H_
