// The function that hosts call: checks and unpacks the arguments of one IR function.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_C_ENTRY_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_C_ENTRY_H_

#include <kernpack/sdk/ir/stmt.h>

#include "codegen/c_family/helpers.h"
#include "ir/names.h"

namespace kernpack::sdk::ir {

// C names of what belongs to a function.
struct EntryNames {
  std::string entry, inner, description;
  std::string code = {};  // of the KpFrameCode that a function of a device launches, an expression; else ""
};

// The KpFrameFunction of that name.
std::string WriteDescription(const FuncNode& f, const std::string& name);
// The definition of a KpSafeCall that calls the C function `inner`. Whatever the caller has checked before, nothing reaches
// `inner` that could make it leave the tensors' memory.
std::string WriteEntry(const FuncNode& f, const EntryNames& names, Helpers* helpers);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_C_ENTRY_H_
