// What an object needs from outside.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LLVM_UNDEFINED_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LLVM_UNDEFINED_H_

#include <string>
#include <vector>

#include "codegen/llvm/machine.h"

namespace kernpack::sdk::ir {

// Names of the symbols that the object uses and does not define.
std::vector<std::string> UndefinedSymbols(const ObjectCode& object);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LLVM_UNDEFINED_H_
