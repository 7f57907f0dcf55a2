#include "codegen/opencl/register.h"

#include "codegen/compile_source.h"
#include "codegen/opencl/dialect.h"

namespace kernpack::sdk {

void RegisterOpenCl(const HostHalf& host) {
  // The program stays source: the driver of whatever device compiles it.
  static const DeviceKind kind{
      "opencl", [](const Target& target) -> const ir::KernelDialect& { return ir::OpenClC(Contracts(target)); },
      [](const ir::DeviceModule& module, const Target&) {
        return std::vector<ir::DeviceImage>{{"opencl", "cl", module.program()}};
      }};
  RegisterDeviceGenerator(kind, host);
}

}  // namespace kernpack::sdk
