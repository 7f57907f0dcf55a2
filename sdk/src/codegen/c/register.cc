// target.build.c, target.export.c, target.source.c.
#include "codegen/c/register.h"

#include <dlfcn.h>

#include <filesystem>

#include <kernpack/error.h>
#include <kernpack/sdk/codegen/c.h>
#include <kernpack/sdk/codegen/generator.h>

#include "codegen/c/compile.h"

namespace kernpack::sdk {
namespace {

// Loads it for good; the file may go.
Generated BuildC(const ir::IRModule& module, const Target& target) {
  const std::string source = ir::GenerateC(module);
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/" + module.name + ".so";
  CompileC(source, target, path);
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* const query = library ? dlsym(library, KP_MODULE_QUERY_SYMBOL) : nullptr;
  if (!query) KP_THROW(RuntimeError) << "the kind c: module '" << module.name << "' cannot be loaded: " << dlerror();
  return {reinterpret_cast<KpModuleQuery>(query)(), {}};
}

// Written beside and moved, so that who has the old file open keeps it.
void ExportC(const ir::IRModule& module, const Target& target, const std::string& path) {
  const std::string partial = path + ".partial";
  CompileC(ir::GenerateC(module), target, partial);
  std::filesystem::rename(partial, path);
}

}  // namespace

void RegisterC() {
  RegisterGenerator("c",
                    {BuildC, ExportC, [](const ir::IRModule& module, const Target&) { return ir::GenerateC(module); }});
}

}  // namespace kernpack::sdk
