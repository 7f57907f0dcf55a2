// The plugin's one export: registers the generator of kind llvm with a host, and those of devices, whose modules have a host's
// half that LLVM makes.
#include <kernpack/guard.h>
#include <kernpack/sdk/codegen/generator.h>
#include <kernpack/sdk/ir/pass.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/cuda/register.h"
#include "codegen/llvm/build.h"
#include "codegen/llvm/export.h"
#include "codegen/llvm/fast_math.h"
#include "codegen/llvm/host.h"
#include "codegen/opencl/register.h"
#include "target/host.h"

namespace kernpack::sdk {
namespace {

const KpHost* g_host = nullptr;

Generated BuildLlvm(const ir::IRModule& input, const Target& target) {
  const ir::LlvmMachine machine(target);
  return ir::BuildInProcess(ir::Lower(input), machine,
                            {.levels = {machine.OwnLevel()}, .floats = ir::FastMathOf(target)}, target);
}

// LLVM's IR after its optimisation.
std::string SourceOf(const ir::IRModule& input, const Target& target) {
  const ir::IRModule module = ir::Lower(input);
  const ir::LlvmMachine machine(target);
  llvm::LLVMContext context;
  const auto code =
      ir::MakeModule(module, {.levels = {machine.OwnLevel()}, .floats = ir::FastMathOf(target)}, &context);
  machine.Optimise(code.get());
  std::string text;
  llvm::raw_string_ostream(text) << *code;
  return text;
}

}  // namespace

const KpHost* Host() { return g_host; }

}  // namespace kernpack::sdk

// 0, or -1 with an error raised in `host`, which must be the same at every call.
extern "C" KP_EXPORT_SYMBOL int kp_generator_v1(const KpHost* host) {
  using namespace kernpack;
  return detail::guarded(host, "kp_generator_v1", [host] {
    sdk::g_host = host;
    sdk::RegisterGenerator(
        "llvm", {.build = sdk::BuildLlvm, .export_library = sdk::ir::ExportLibrary, .source = sdk::SourceOf});
    sdk::RegisterOpenCl(sdk::LlvmHost());
    sdk::RegisterCuda(sdk::LlvmHost());
  });
}
