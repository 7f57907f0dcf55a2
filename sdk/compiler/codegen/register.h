// Registers the built-in generators. Each function is in register.cc in the folder of its kind.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_REGISTER_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_REGISTER_H_

#include "codegen/device/host_half.h"

namespace kernpack::sdk {

void RegisterC();

// The generators of kind `llvm` and of devices. Where the SDK is built without LLVM (without_llvm.cc), those of devices alone,
// whose host's half the machine's C compiler makes.
void RegisterLlvm();

// Makes the functions that launch imported kernels; null where the SDK is built without LLVM.
const HostHalf* HostOfImports();

void RegisterCuda(const HostHalf& host);
void RegisterOpenCl(const HostHalf& host);

// The generators that come with this build of the SDK.
// Registers them, or why they are not there; the first call does it.
void RegisterBuiltinGenerators();

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_REGISTER_H_
