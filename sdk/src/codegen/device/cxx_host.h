// The host's half of a device's module by way of C++ and the headers that authors of kernels use: for an SDK without LLVM.
#ifndef KERNPACK_SDK_SRC_CODEGEN_DEVICE_CXX_HOST_H_
#define KERNPACK_SDK_SRC_CODEGEN_DEVICE_CXX_HOST_H_

#include "codegen/device/host_half.h"

namespace kernpack::sdk {

// Needs a C++ compiler where it runs.
const HostHalf& CxxHost();

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_SRC_CODEGEN_DEVICE_CXX_HOST_H_
