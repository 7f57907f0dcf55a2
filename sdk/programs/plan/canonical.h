// One form of each device of a plan, such that equal ones compare equal.
#ifndef KERNPACK_SDK_PROGRAMS_PLAN_CANONICAL_H_
#define KERNPACK_SDK_PROGRAMS_PLAN_CANONICAL_H_

#include <kernpack/sdk/compilation_config.h>

namespace kernpack::sdk::program {

// config->CanonicalVirtualDevice(), where the host's target serves its device type if no other target does. ValueError when
// none is for the type.
VirtualDevice Canonical(CompilationConfig* config, const VirtualDevice& device);
// True if a target, the host's included, is for this device type.
bool HasTarget(const CompilationConfig& config, int32_t device_type);

// The parts of a device: which it is, and which of its memories.
VirtualDevice WithoutScope(const VirtualDevice& device);
VirtualDevice WithScope(const VirtualDevice& device, const std::optional<std::string>& scope);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PLAN_CANONICAL_H_
