// OpenCL C 1.2, and what later versions share with it.
#ifndef KERNPACK_SDK_SRC_CODEGEN_OPENCL_DIALECT_H_
#define KERNPACK_SDK_SRC_CODEGEN_OPENCL_DIALECT_H_

#include "codegen/device/kernel_dialect.h"

namespace kernpack::sdk::ir {

// `contracts`: multiply and add may become one operation.
const KernelDialect& OpenClC(bool contracts);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SRC_CODEGEN_OPENCL_DIALECT_H_
