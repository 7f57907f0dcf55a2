// The architecture of a device that is no CPU, as its backend names it. A backend provides it as the extension
// "kernpack.device_arch" (kp_extension_register), version 1, a KpDeviceArchExtension.
#ifndef KERNPACK_SRC_TARGET_DEVICE_ARCH_H_
#define KERNPACK_SRC_TARGET_DEVICE_ARCH_H_

#include <optional>
#include <string>

#include <kernpack/abi.h>

namespace kernpack::host {

struct KpDeviceArchExtension {
  uint32_t struct_size;
  // Writes the NUL-terminated name ("sm_90"). Returns 0, or -1 when the device is not this backend's.
  int (*name)(KpDLDevice device, char* out, size_t size);
};

// Empty when no backend knows the device.
std::optional<std::string> DeviceArch(KpDLDevice device);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_TARGET_DEVICE_ARCH_H_
