// The processor that variants are chosen for.
#ifndef KERNPACK_SRC_DEVICES_TARGET_CPU_MACHINE_H_
#define KERNPACK_SRC_DEVICES_TARGET_CPU_MACHINE_H_

#include <string>

#include "shared/target/cpu_spec.h"

namespace kernpack::host {

// This processor, without what KERNPACK_TARGET ("llvm -mcpu=x86-64-v2") does not name: it takes away and never adds. Returns
// 0, or -1 with ValueError raised where that isn't a target for a processor of this architecture.
int MachineCpu(CpuSpec* out);

// As a target: "llvm -mattr=+adx,+aes -mcpu=x86-64-v3".
std::string CpuTarget(const CpuSpec& cpu);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_TARGET_CPU_MACHINE_H_
