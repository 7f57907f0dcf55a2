#include "codegen/builtin.h"

#include <kernpack/sdk/codegen/generator.h>

#include <mutex>

#include "codegen/c/register.h"
#include "codegen/cuda/register.h"
#include "codegen/opencl/register.h"
#include "codegen/plugin.h"

namespace kernpack::sdk {

// One line a kind: the Register function of its folder, or ExplainMissingGenerator() where it is built without.
void RegisterBuiltinGenerators() {
  static std::once_flag once;
  std::call_once(once, [] {
    RegisterC();
    RegisterOpenCl();
    RegisterCuda();
    ExplainMissingGenerator("composite", "each of its parts is built by itself");
    if (const std::string why = LoadGeneratorPlugin("llvm"); !why.empty()) {
      ExplainMissingGenerator(
          "llvm", why + "; install kernpack-compiler, or build the SDK with LLVM (pip install mlc-llvm-static)");
    }
  });
}

}  // namespace kernpack::sdk
