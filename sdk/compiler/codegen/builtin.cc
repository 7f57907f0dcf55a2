
#include <kernpack/sdk/codegen/generator.h>

#include <mutex>

#include "codegen/register.h"

namespace kernpack::sdk {

// The Register function of each kind's folder, or ExplainMissingGenerator() where it is built without.
void RegisterBuiltinGenerators() {
  static std::once_flag once;
  std::call_once(once, [] {
    RegisterC();
    ExplainMissingGenerator("composite", "each of its parts is built by itself");
    RegisterLlvm();
  });
}

}  // namespace kernpack::sdk
