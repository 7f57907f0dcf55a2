#include "codegen/llvm/build.h"

#include <kernpack/error.h>

namespace kernpack::sdk::ir {

Generated BuildInProcess(const IRModule& module, const LlvmMachine& machine, const ModuleOptions& options,
                         const Target& target) {
  if (!machine.is_native()) {
    KP_THROW(ValueError) << "target '" << target.str() << "': code for " << machine.triple()
                         << " does not run on this machine; export it instead";
  }
  llvm::LLVMContext context;
  const auto code = MakeModule(module, options, &context);
  return {.table = LinkInProcess(module.name, machine.Compile(code.get()))};
}

}  // namespace kernpack::sdk::ir
