// A C file that is a module: its functions, what hosts call, the table.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_C_MODULE_TEXT_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_C_MODULE_TEXT_H_

#include <kernpack/sdk/ir/stmt.h>

#include <functional>

#include "codegen/c_family/helpers.h"
#include "ir/names.h"

namespace kernpack::sdk::ir {

// A variant of a function; a function has one per target.
struct CVariant {
  std::string target = {};  // of the host's choice between them; "": the baseline
  std::string code = {};    // as EntryNames has it
};

struct ModuleParts {
  const IRModule& module;  // lowered; at least one function is not private
  const Dialect& dialect;
  std::vector<CVariant> variants;
  // Code that functions need, after kCHead: KpInstance, kp_create, kp_destroy and what they call. It may use KP_GENERATED_NAME.
  std::string runtime;
  // The C function that a function becomes, under the name that `functions` has for it.
  std::function<std::string(const FuncNode& f, Helpers* helpers, Names* functions)> body;
};

std::string WriteModule(const ModuleParts& parts);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_C_MODULE_TEXT_H_
