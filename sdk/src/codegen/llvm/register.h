#ifndef KERNPACK_SDK_SRC_CODEGEN_LLVM_REGISTER_H_
#define KERNPACK_SDK_SRC_CODEGEN_LLVM_REGISTER_H_

namespace kernpack::sdk {

// Makes the generators of kind `llvm` and of devices known. Where the SDK is built without LLVM (without_llvm.cc), those of
// devices alone, whose host's half the machine's C++ compiler makes.
void RegisterLlvm();

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_SRC_CODEGEN_LLVM_REGISTER_H_
