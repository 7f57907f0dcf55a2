// A module for this process.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LLVM_BUILD_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LLVM_BUILD_H_

#include "codegen/llvm/machine.h"
#include "codegen/llvm/module.h"

namespace kernpack::sdk::ir {

// Compiles and links what MakeModule() takes. ValueError where `machine`, that of `target`, is not this one.
Generated BuildInProcess(const IRModule& module, const LlvmMachine& machine, const ModuleOptions& options,
                         const Target& target);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LLVM_BUILD_H_
