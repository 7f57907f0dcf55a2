// target.build.c, target.export.c, target.source.c.
#include "codegen/c/register.h"

#include <kernpack/sdk/codegen/c.h>
#include <kernpack/sdk/codegen/generator.h>

#include "codegen/compile_source.h"

namespace kernpack::sdk {
namespace {

SourceFile SourceOf(const ir::IRModule& module) { return {"c", SourceFile::kC99, ir::GenerateC(module)}; }

}  // namespace

void RegisterC() {
  RegisterGenerator("c", {[](const ir::IRModule& module, const Target& target) {
                            return Generated{LoadSource(SourceOf(module), target, module.name), {}};
                          },
                          [](const ir::IRModule& module, const Target& target, const std::string& path) {
                            ExportSource(SourceOf(module), target, path);
                          },
                          [](const ir::IRModule& module, const Target&) { return ir::GenerateC(module); }});
}

}  // namespace kernpack::sdk
