// The host's half of a device's module as C that is linked with the frame: for an SDK without LLVM.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_C_HOST_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_C_HOST_H_

#include "codegen/device/host_half.h"

namespace kernpack::sdk {

// Needs a C compiler where it runs.
const HostHalf& CHost();

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_C_HOST_H_
