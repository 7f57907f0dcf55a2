// target.build.llvm, target.export.llvm, target.source.llvm; and the kinds of devices, whose modules have a host's half that LLVM makes.
#include <kernpack/sdk/codegen/generator.h>
#include <kernpack/sdk/ir/pass.h>
#include <llvm/Support/raw_ostream.h>
#include "shared/target_kinds.h"

#include "codegen/llvm/build.h"
#include "codegen/llvm/export.h"
#include "codegen/llvm/types.h"
#include "codegen/device/host_half.h"
#include "codegen/register.h"

namespace kernpack::sdk {
namespace {

Generated BuildLlvm(const ir::IRModule& input, const Target& target) {
  const ir::LlvmMachine machine(target);
  return ir::BuildInProcess(ir::Lower(input), machine,
                            {.levels = {machine.OwnLevel()}, .floats = ir::GetFastMathFlags(target)}, target);
}

// LLVM's IR after its optimisation.
std::string GenerateSource(const ir::IRModule& input, const Target& target) {
  const ir::IRModule module = ir::Lower(input);
  const ir::LlvmMachine machine(target);
  llvm::LLVMContext context;
  const auto code =
      ir::MakeModule(module, {.levels = {machine.OwnLevel()}, .floats = ir::GetFastMathFlags(target)}, &context);
  machine.Optimise(code.get());
  std::string text;
  llvm::raw_string_ostream(text) << *code;
  return text;
}

}  // namespace

void RegisterLlvm() {
  RegisterGenerator(host::kLlvmKind,
                    {.build = BuildLlvm, .export_library = ir::ExportLibrary, .source = GenerateSource});
  RegisterOpenCl(LlvmHost());
  RegisterCuda(LlvmHost());
}

const HostHalf* HostOfImports() { return &LlvmHost(); }

}  // namespace kernpack::sdk
