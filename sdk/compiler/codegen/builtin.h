// The generators that come with this build of the SDK.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_BUILTIN_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_BUILTIN_H_

namespace kernpack::sdk {

// Registers them, or why they are not there; the first call does it.
void RegisterBuiltinGenerators();

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_BUILTIN_H_
