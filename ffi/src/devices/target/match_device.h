// May code run on this process's processor, or on one of its devices. CPU variants of modules are chosen by it. Of other devices the
// backend is asked first (match_target of device_api.h), then MatchDevice. Hosts and modules ask by kTargetApi.
#ifndef KERNPACK_SRC_DEVICES_TARGET_MATCH_DEVICE_H_
#define KERNPACK_SRC_DEVICES_TARGET_MATCH_DEVICE_H_

#include <optional>
#include <string>
#include <string_view>

#include <kernpack/abi.h>
#include <kernpack/host/target.h>

#include "shared/target/target_match.h"

namespace kernpack::host {

// `machine` is this process's processor, or what stands for it.
TargetMatch MatchCpu(std::string_view code, const CpuSpec& machine);

// Not a CPU. `device_arch`: as its backend names it ("sm_90"); NULL when no backend for it is loaded.
TargetMatch MatchDevice(std::string_view code, KpDLDevice device, const char* device_arch);

// The code that a device can run, as its backend reports. Not used for the CPU. An embedder without a backend provides the architecture as the
// extension "kernpack.device_arch" (kp_extension_register), version 1, a KpDeviceArchExtension.
struct KpDeviceArchExtension {
  uint32_t struct_size;
  // Writes the NUL-terminated name ("sm_90"). Returns 0, or -1 when the device is not this backend's.
  int (*name)(KpDLDevice device, char* out, size_t size);
};

// Empty when neither an extension nor a backend knows the device. May open the backend's driver: hold no lock.
std::optional<std::string> DeviceArch(KpDLDevice device);

// Asks the device's own backend for its match of a target. Empty if the backend leaves the match to the architecture, or if there is no
// such backend or device. Hold no lock.
std::optional<TargetMatch> AskBackend(std::string_view target, KpDLDevice device);

// The table that get_extension returns for "kernpack.target".
extern const KpTargetApi kTargetApi;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_TARGET_MATCH_DEVICE_H_
