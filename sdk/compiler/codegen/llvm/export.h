// A module as a shared object that needs nothing of this SDK.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LLVM_EXPORT_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LLVM_EXPORT_H_

#include <kernpack/sdk/ir/stmt.h>
#include <kernpack/sdk/target.h>

#include "codegen/llvm/machine.h"
#include "codegen/llvm/module.h"

namespace kernpack::sdk::ir {

// Writes `path`, a shared object: the functions for each CPU level of the target, the frame, the aliases. A path that ends in
// .o gets an object to link into a program, whose query function is kp_module_v1_<module's name>; it has no aliases. ValueError: code that needs a
// function which no module may count on. Errors of the linker as LinkShared()'s.
void ExportLibrary(const IRModule& module, const Target& target, const std::string& path);

// As above, for modules that MakeModule() takes with these options; `hashed`: what decides what is made, besides.
void ExportMade(const IRModule& module, const LlvmMachine& machine, ModuleOptions options, const std::string& hashed,
                const std::string& path);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LLVM_EXPORT_H_
