// May code run on this process's processor, or on one of its devices. CPU variants of modules are chosen by it. Of other devices the
// backend is asked first (match_target of device_api.h), then MatchDevice.
#ifndef KERNPACK_SRC_DEVICES_TARGET_MATCH_DEVICE_H_
#define KERNPACK_SRC_DEVICES_TARGET_MATCH_DEVICE_H_

#include <kernpack/abi.h>
#include "shared/target/target_match.h"

namespace kernpack::host {

// `machine` is this process's processor, or what stands for it.
TargetMatch MatchCpu(std::string_view code, const CpuSpec& machine);

// Not a CPU. `device_arch`: as its backend names it ("sm_90"); NULL when no backend for it is loaded.
TargetMatch MatchDevice(std::string_view code, KpDLDevice device, const char* device_arch);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_TARGET_MATCH_DEVICE_H_
