// A device as people write it: "cuda:0".
#ifndef KERNPACK_SRC_VALUES_TENSOR_DEVICE_TEXT_H_
#define KERNPACK_SRC_VALUES_TENSOR_DEVICE_TEXT_H_

#include <string>

#include <kernpack/host/host.h>

namespace kernpack::host {

inline std::string DeviceText(KpDLDevice device) {
  return std::string(kp_device_type_name(device.device_type)) + ":" + std::to_string(device.device_id);
}

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_VALUES_TENSOR_DEVICE_TEXT_H_
