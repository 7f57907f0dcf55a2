// What this processor can do.
#ifndef KERNPACK_SRC_TARGET_CPU_DETECT_H_
#define KERNPACK_SRC_TARGET_CPU_DETECT_H_

#include "shared/target/cpu_spec.h"

namespace kernpack::host {

// Read once. With what the operating system saves counted in. Matrix tiles (amx) are left out: a process has to ask for them.
const CpuSpec& DetectedCpu();

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_TARGET_CPU_DETECT_H_
