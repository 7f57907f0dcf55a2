// The families of kinds that come with the SDK.
#ifndef KERNPACK_SDK_SRC_TARGET_KINDS_H_
#define KERNPACK_SDK_SRC_TARGET_KINDS_H_

namespace kernpack::sdk {

void RegisterCpuKinds();  // llvm, c
void RegisterGpuKinds();  // cuda, opencl

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_SRC_TARGET_KINDS_H_
