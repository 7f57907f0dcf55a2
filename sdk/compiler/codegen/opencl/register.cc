#include "codegen/register.h"

#include "shared/target_kinds.h"

#include "codegen/compile_source.h"
#include "codegen/languages.h"

namespace kernpack::sdk {

void RegisterOpenCl(const HostHalf& host) {
  // The program stays source: the driver of whatever device compiles it.
  static const DeviceKind kind{
      host::kOpenClKind,
      [](const Target& target) -> const ir::KernelDialect& { return ir::OpenClC(Contracts(target)); },
      [](const ir::DeviceModule& module, const Target&) {
        return std::vector<ir::DeviceImage>{{host::kOpenClKind, "cl", module.program()}};
      }};
  RegisterDeviceGenerator(kind, host);
}

}  // namespace kernpack::sdk
