// target.build.c, target.export.c, target.source.c.
#include "codegen/c/register.h"

#include <kernpack/sdk/codegen/c.h>
#include <kernpack/sdk/codegen/generator.h>

#include "codegen/compile_source.h"
#include "schedule/default/processor.h"

namespace kernpack::sdk {
namespace {

std::string CTextFor(const ir::IRModule& module, const Target& target) {
  return ir::GenerateC(module, static_cast<int>(ir::ProcessorOf(target).vector_bytes));
}

SourceFile SourceOf(const ir::IRModule& module, const Target& target) {
  return {"c", SourceFile::kC99, CTextFor(module, target)};
}

}  // namespace

void RegisterC() {
  RegisterGenerator("c", {[](const ir::IRModule& module, const Target& target) {
                            return Generated{LoadSource(SourceOf(module, target), target, module.name), {}};
                          },
                          [](const ir::IRModule& module, const Target& target, const std::string& path) {
                            ExportSource(SourceOf(module, target), target, path);
                          },
                          CTextFor});
}

}  // namespace kernpack::sdk
