#ifndef KERNPACK_SDK_SRC_CODEGEN_CUDA_REGISTER_H_
#define KERNPACK_SDK_SRC_CODEGEN_CUDA_REGISTER_H_

#include "codegen/device/host_half.h"

namespace kernpack::sdk {

// target.build.cuda, target.export.cuda, target.source.cuda.
void RegisterCuda(const HostHalf& host);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_SRC_CODEGEN_CUDA_REGISTER_H_
