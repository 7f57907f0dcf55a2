// The C-like languages that are generated, each in the dialect.cc of its kind's folder.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LANGUAGES_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LANGUAGES_H_

#include "codegen/device/kernel_dialect.h"

namespace kernpack::sdk::ir {

// With the C library.
const Dialect& C99();
// The language of the code that runs on the host of a device, between launches.
const Dialect& C99OfDeviceHost();

// For NVRTC, which has no headers, and for nvcc.
const KernelDialect& CudaCxx();

// OpenCL C 1.2, and what later versions share with it. `contracts`: multiply and add may become one operation.
const KernelDialect& OpenClC(bool contracts);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LANGUAGES_H_
