// Object code made runnable in this process.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LLVM_JIT_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LLVM_JIT_H_

#include <kernpack/abi.h>

#include <string>

#include "codegen/llvm/machine.h"

namespace kernpack::sdk::ir {

// Links the object to the frame and gives what its query function returns. The code stays for as long as the process, as
// every module's does. RuntimeError naming a symbol that is not there. Any thread.
const KpModule* LinkInProcess(const std::string& name, const ObjectCode& object);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LLVM_JIT_H_
