#include <kernpack/sdk/codegen/generator.h>
#include "shared/target_kinds.h"

#include "codegen/device/host_half.h"
#include "codegen/register.h"

namespace kernpack::sdk {

void RegisterLlvm() {
  ExplainMissingGenerator(
      host::kLlvmKind,
      "this SDK is built without LLVM; install kernpack-compiler, or build it with LLVM (pip install "
      "mlc-llvm-static)");
  RegisterOpenCl(CHost());
  RegisterCuda(CHost());
}

const HostHalf* HostOfImports() { return nullptr; }

}  // namespace kernpack::sdk
