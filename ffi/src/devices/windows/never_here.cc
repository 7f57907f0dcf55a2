#include "devices/registry.h"

namespace kernpack::host {

const char* WhyNeverHere(int32_t device_type) noexcept {
  const bool ours = device_type == KP_DEVICE_CUDA || device_type == KP_DEVICE_OPENCL;
  return ours ? "Kernpack has no CUDA or OpenCL on Windows yet; use Linux" : nullptr;
}

}  // namespace kernpack::host
