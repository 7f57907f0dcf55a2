// CUDA C++ for NVRTC, which has no headers, and for nvcc.
#ifndef KERNPACK_SDK_SRC_CODEGEN_CUDA_DIALECT_H_
#define KERNPACK_SDK_SRC_CODEGEN_CUDA_DIALECT_H_

#include "codegen/device/kernel_dialect.h"

namespace kernpack::sdk::ir {

const KernelDialect& CudaCxx();

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SRC_CODEGEN_CUDA_DIALECT_H_
