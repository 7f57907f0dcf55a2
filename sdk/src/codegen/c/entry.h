// The function that hosts call: checks and unpacks the arguments of one IR function.
#ifndef KERNPACK_SDK_SRC_CODEGEN_C_ENTRY_H_
#define KERNPACK_SDK_SRC_CODEGEN_C_ENTRY_H_

#include <kernpack/sdk/ir/stmt.h>

#include "codegen/c_family/helpers.h"
#include "ir/names.h"

namespace kernpack::sdk::ir {

// The definition of `name`, a KpSafeCall that calls the C function `inner`. Whatever the caller has checked before,
// nothing reaches `inner` that could make it leave the tensors' memory.
std::string WriteEntry(const FuncNode& f, const std::string& name, const std::string& inner, Helpers* helpers);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SRC_CODEGEN_C_ENTRY_H_
