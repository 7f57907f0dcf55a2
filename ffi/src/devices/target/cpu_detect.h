// What this processor can do.
#ifndef KERNPACK_SRC_DEVICES_TARGET_CPU_DETECT_H_
#define KERNPACK_SRC_DEVICES_TARGET_CPU_DETECT_H_

#include "shared/target/cpu_spec.h"

namespace kernpack::host {

// Read once. With what the operating system saves counted in. Matrix tiles (amx) are among it, though a process has to ask for them.
const CpuSpec& DetectedCpu();

// A processor of this architecture, or one that isn't known, without matrix tiles and what needs them.
CpuSpec WithoutTiles(CpuSpec cpu);

// Whether Linux gives this process matrix tiles, if it hasn't yet. It refuses where a thread's stack for signals is too small for them,
// and refuses such stacks afterwards: hence only where code that uses tiles would run. Linux's Documentation/arch/x86/xstate.rst.
bool AskForTiles();

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_TARGET_CPU_DETECT_H_
