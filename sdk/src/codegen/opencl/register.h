#ifndef KERNPACK_SDK_SRC_CODEGEN_OPENCL_REGISTER_H_
#define KERNPACK_SDK_SRC_CODEGEN_OPENCL_REGISTER_H_

namespace kernpack::sdk {

// target.build.opencl, target.export.opencl, target.source.opencl.
void RegisterOpenCl();

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_SRC_CODEGEN_OPENCL_REGISTER_H_
