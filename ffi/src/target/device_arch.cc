#include "target/device_arch.h"

#include <kernpack/host/host.h>

namespace kernpack::host {

std::optional<std::string> DeviceArch(KpDLDevice device) {
  const void* table = nullptr;
  if (kp_host()->get_extension(kp_host(), kp_bytes("kernpack.device_arch"), 1, &table) != 0) {
    kp_error_clear();
    return std::nullopt;
  }
  const auto* extension = static_cast<const KpDeviceArchExtension*>(table);
  char text[64] = {};
  if (!extension || extension->name(device, text, sizeof text - 1) != 0) return std::nullopt;
  return text;
}

}  // namespace kernpack::host
