// The host's half of a device's module, by LLVM: no compiler is run.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LLVM_HOST_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LLVM_HOST_H_

#include "codegen/device/host_half.h"

namespace kernpack::sdk {

const HostHalf& LlvmHost();

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LLVM_HOST_H_
