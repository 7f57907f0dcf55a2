// target.build.c, target.export.c, target.source.c.
#include "codegen/register.h"

#include <kernpack/sdk/codegen/c.h>
#include <kernpack/sdk/codegen/generator.h>
#include "shared/target_kinds.h"

#include "codegen/c/aliases.h"
#include "codegen/compile_source.h"
#include "codegen/frame_code.h"
#include "schedule/default/processor.h"

namespace kernpack::sdk {
namespace {

std::string CTextFor(const ir::IRModule& module, const Target& target) {
  return ir::GenerateC(module, static_cast<int>(ir::GetProcessor(target).vector_bytes));
}

SourceFile GenerateSource(const ir::IRModule& module, const Target& target) { return {"c", CTextFor(module, target)}; }

// Where this SDK has a frame for the machine, an exported module has aliases for hosts of the TVM FFI ABI.
SourceFile GenerateExportedSource(const ir::IRModule& module, const Target& target) {
  SourceFile source = GenerateSource(module, target);
  source.object = FindFrame(target.GetAttr<std::string>("mtriple", "")).in_library;
  if (source.object.empty()) return source;
  source.text = ir::WithAliases(source.text, module);
  source.link_options = {std::begin(ir::kAliasLinkOptions), std::end(ir::kAliasLinkOptions)};
  return source;
}

}  // namespace

void RegisterC() {
  RegisterGenerator(host::kCKind, {[](const ir::IRModule& module, const Target& target) {
                                     return Generated{LoadSource(GenerateSource(module, target), target, module.name),
                                                      {}};
                                   },
                                   [](const ir::IRModule& module, const Target& target, const std::string& path) {
                                     ExportSource(GenerateExportedSource(module, target), target, path);
                                   },
                                   CTextFor});
}

}  // namespace kernpack::sdk
