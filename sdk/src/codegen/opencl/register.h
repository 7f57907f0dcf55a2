#ifndef KERNPACK_SDK_SRC_CODEGEN_OPENCL_REGISTER_H_
#define KERNPACK_SDK_SRC_CODEGEN_OPENCL_REGISTER_H_

#include "codegen/device/host_half.h"

namespace kernpack::sdk {

// target.build.opencl, target.export.opencl, target.source.opencl.
void RegisterOpenCl(const HostHalf& host);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_SRC_CODEGEN_OPENCL_REGISTER_H_
