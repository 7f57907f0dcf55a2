#include "codegen/builtin.h"

#include <kernpack/sdk/codegen/generator.h>

#include <mutex>

#include "codegen/c/register.h"
#include "codegen/cuda/register.h"
#include "codegen/device/cxx_host.h"
#include "codegen/opencl/register.h"
#include "codegen/plugin.h"

namespace kernpack::sdk {

// The Register function of each kind's folder, or ExplainMissingGenerator() where it is built without.
void RegisterBuiltinGenerators() {
  static std::once_flag once;
  std::call_once(once, [] {
    RegisterC();
    ExplainMissingGenerator("composite", "each of its parts is built by itself");
    const std::string why = LoadGeneratorPlugin("llvm");
    if (why.empty()) return;  // it registers the kinds of devices too, and makes their modules' host half
    ExplainMissingGenerator(
        "llvm", why + "; install kernpack-compiler, or build the SDK with LLVM (pip install mlc-llvm-static)");
    RegisterOpenCl(CxxHost());
    RegisterCuda(CxxHost());
  });
}

}  // namespace kernpack::sdk
