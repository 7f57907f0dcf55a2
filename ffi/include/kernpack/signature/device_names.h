// The device names that `on` and messages use.
#ifndef KERNPACK_SIGNATURE_DEVICE_NAMES_H_
#define KERNPACK_SIGNATURE_DEVICE_NAMES_H_

#include <kernpack/config.h>

KP_NAMESPACE_BEGIN
namespace signature {

// DLPack's device types.
struct DeviceName {
  char name[13];
  int32_t type;
};
inline constexpr DeviceName kDeviceNames[] = {
    {"cpu", KP_DEVICE_CPU},           {"cuda", KP_DEVICE_CUDA},       {"cuda_host", KP_DEVICE_CUDA_HOST},
    {"opencl", KP_DEVICE_OPENCL},     {"vulkan", KP_DEVICE_VULKAN},   {"metal", KP_DEVICE_METAL},
    {"vpi", KP_DEVICE_VPI},           {"rocm", KP_DEVICE_ROCM},       {"rocm_host", KP_DEVICE_ROCM_HOST},
    {"ext_dev", KP_DEVICE_EXT},       {"cuda_managed", KP_DEVICE_CUDA_MANAGED},
    {"oneapi", KP_DEVICE_ONEAPI},     {"webgpu", KP_DEVICE_WEBGPU},   {"hexagon", KP_DEVICE_HEXAGON},
    {"maia", KP_DEVICE_MAIA},         {"trn", KP_DEVICE_TRN},
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_DEVICE_NAMES_H_
