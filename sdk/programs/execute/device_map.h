// Which real device each virtual one is.
#ifndef KERNPACK_SDK_PROGRAMS_EXECUTE_DEVICE_MAP_H_
#define KERNPACK_SDK_PROGRAMS_EXECUTE_DEVICE_MAP_H_

#include <kernpack/sdk/device_api.h>
#include <kernpack/sdk/virtual_device.h>

#include <string>
#include <vector>

namespace kernpack::sdk::program {

inline constexpr KpDLDevice kHost{KP_DEVICE_CPU, 0};

inline bool SameDevice(KpDLDevice a, KpDLDevice b) {
  return a.device_type == b.device_type && a.device_id == b.device_id;
}

// "opencl:1", "cpu"; of device types that the host allotted, too.
std::string GetName(KpDLDevice device);

// See Executable's `devices`.
class DeviceMap {
 public:
  explicit DeviceMap(std::vector<KpDLDevice> given) : given_(std::move(given)) {}

  // An open type is the host's, an open id 0. ValueError, naming `user`, where no device is given; RuntimeError where it is not
  // there.
  KpDLDevice Real(const VirtualDevice& device, const std::string& user) const;

 private:
  std::vector<KpDLDevice> given_;
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_EXECUTE_DEVICE_MAP_H_
