// The processor that variants are chosen for.
#ifndef KERNPACK_SRC_TARGET_CPU_MACHINE_H_
#define KERNPACK_SRC_TARGET_CPU_MACHINE_H_

#include <string>

#include "target/cpu_spec.h"

namespace kernpack::host {

// This processor, without what KERNPACK_TARGET ("llvm -mcpu=x86-64-v2") does not name: it takes away and never adds. Returns
// 0, or -1 with ValueError raised where that is no target for a processor of this architecture.
int MachineCpu(CpuSpec* out);

// The highest x86-64 level that it has all of, "x86-64-v3"; of others, the architecture.
std::string NearestCpuLevel(const CpuSpec& cpu);

// As a target: "llvm -mattr=+adx,+aes -mcpu=x86-64-v3".
std::string CpuTarget(const CpuSpec& cpu);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_TARGET_CPU_MACHINE_H_
