// A module for this process.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LLVM_BUILD_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LLVM_BUILD_H_

#include <string>
#include <vector>

#include <kernpack/abi.h>

#include "codegen/llvm/machine.h"
#include "codegen/llvm/module.h"

namespace kernpack::sdk::ir {

// Compiles and links what MakeModule() takes. ValueError where `machine`, that of `target`, is not this one.
Generated BuildInProcess(const IRModule& module, const LlvmMachine& machine, const ModuleOptions& options,
                         const Target& target);

// Object code made runnable in this process.
// Links the object to the frame and gives what its query function returns. The code stays for as long as the process, as
// every module's does. RuntimeError naming a symbol that is not there. Any thread.
const KpModule* LinkInProcess(const std::string& name, const ObjectCode& object);

// External symbols of an object.
// Names of the symbols that the object uses and does not define.
std::vector<std::string> UndefinedSymbols(const ObjectCode& object);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LLVM_BUILD_H_
