// The processors that targets can name: those of hosts, and those that only the SDK knows, because no host runs on them.
#ifndef KERNPACK_SDK_COMPILER_TARGET_KNOWN_CPUS_H_
#define KERNPACK_SDK_COMPILER_TARGET_KNOWN_CPUS_H_

#include "shared/target/cpu_spec.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernpack::host {

extern const CpuArch kArmCpu;  // microcontrollers
extern const CpuArch kRiscv64Cpu;

}  // namespace kernpack::host

namespace kernpack::sdk {

// As host::ReadCpuSpec. ValueError for an unknown processor or feature names the nearest and all that are known.
host::CpuSpec FindCpu(std::string_view triple, std::string_view cpu, const std::vector<std::string_view>& attributes);

// ValueError when the architecture isn't known.
std::vector<std::string_view> CpuModels(std::string_view architecture);
std::vector<std::string_view> CpuFeatureNames(std::string_view architecture);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_TARGET_KNOWN_CPUS_H_
