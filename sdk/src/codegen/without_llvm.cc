#include <kernpack/sdk/codegen/generator.h>

#include "codegen/cuda/register.h"
#include "codegen/device/c_host.h"
#include "codegen/llvm/register.h"
#include "codegen/opencl/register.h"

namespace kernpack::sdk {

void RegisterLlvm() {
  ExplainMissingGenerator(
      "llvm",
      "this SDK is built without LLVM; install kernpack-compiler, or build it with LLVM (pip install "
      "mlc-llvm-static)");
  RegisterOpenCl(CHost());
  RegisterCuda(CHost());
}

}  // namespace kernpack::sdk
