// An IR module as an LLVM module: the functions, and the table that makes it a Kernpack module.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LLVM_MODULE_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LLVM_MODULE_H_

#include <kernpack/abi.h>
#include <kernpack/sdk/ir/stmt.h>
#include <llvm/IR/FMF.h>
#include <llvm/IR/Module.h>

#include <vector>

#include "codegen/device/host_half.h"
#include "codegen/llvm/level.h"

namespace kernpack::sdk::ir {

struct ModuleOptions {
  std::vector<Level> levels;  // at least one; each public function has a variant for each
  llvm::FastMathFlags floats;  // what LLVM may do with float operations
  bool aliases = false;  // defines __tvm_ffi_<name>
  std::string content_hash;  // KpModule::content_hash; empty: NULL
  std::string query = KP_MODULE_QUERY_SYMBOL;  // the function that gives the table
  // Where the module is the host's half: `levels` has one, and each public function has a variant for each image.
  const CompiledDevice* device = nullptr;
};

// `module` is what Lower() gives, or the device's module(). Errors as Build()'s.
std::unique_ptr<llvm::Module> MakeModule(const IRModule& module, const ModuleOptions& options,
                                         llvm::LLVMContext* context);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LLVM_MODULE_H_
