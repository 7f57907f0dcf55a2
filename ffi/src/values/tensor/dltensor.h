// Arithmetic on DLTensors that has been checked against overflow.
#ifndef KERNPACK_SRC_VALUES_TENSOR_DLTENSOR_H_
#define KERNPACK_SRC_VALUES_TENSOR_DLTENSOR_H_

#include <cstdint>
#include <string>

#include <kernpack/signature/memory.h>
#include <kernpack/host/host.h>

namespace kernpack::host {

constexpr int32_t kMaxNdim = 64;

inline int64_t ElementBits(KpDLDataType dtype) { return int64_t{dtype.bits} * dtype.lanes; }

// Of a validated tensor.
inline int64_t NumElements(const KpDLTensor& tensor) {
  int64_t count = 1;
  for (int32_t i = 0; i < tensor.ndim; ++i) count *= tensor.shape[i];
  return count;
}
inline int64_t NumBytes(const KpDLTensor& tensor) { return (NumElements(tensor) * ElementBits(tensor.dtype) + 7) / 8; }

using signature::IsCompact;

// Device types that DLPack defines, or that this host allotted.
bool IsKnownDeviceType(int32_t device_type) noexcept;

// A device as people write it: "cuda:0".
inline std::string DeviceText(KpDLDevice device) {
  return std::string(kp_device_type_name(device.device_type)) + ":" + std::to_string(device.device_id);
}

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_VALUES_TENSOR_DLTENSOR_H_
