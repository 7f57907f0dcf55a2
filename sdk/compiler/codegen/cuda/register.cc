#include "codegen/register.h"

#include "shared/target_kinds.h"

#include "codegen/compile_source.h"
#include "codegen/languages.h"
#include "codegen/cuda/nvrtc.h"

namespace kernpack::sdk {
namespace {

// Machine code for what is common, and PTX that the driver compiles for everything from compute capability 8.0 up.
constexpr const char* kUsual[] = {"sm_80", "sm_90", "sm_100", "compute_80"};

// The one that the target names; else the usual ones that this compiler knows.
std::vector<std::string> SelectArchs(const Target& target, const Nvrtc& nvrtc) {
  if (const std::string arch = target.GetAttr<std::string>("arch", ""); !arch.empty()) return {arch};
  std::vector<std::string> archs;
  for (const char* arch : kUsual) {
    if (nvrtc.Knows(arch)) archs.push_back(arch);
  }
  return archs;
}

std::vector<ir::DeviceImage> CudaImages(const ir::DeviceModule& module, const Target& target) {
  const Nvrtc& nvrtc = Nvrtc::Get();
  std::vector<ir::DeviceImage> images;
  for (const std::string& arch : SelectArchs(target, nvrtc)) {
    const bool ptx = arch.rfind("compute_", 0) == 0;
    images.push_back({std::string(host::kCudaKind) + " -arch=" + arch, ptx ? "ptx" : "cubin",
                      nvrtc.Compile(module.program(), module.module().name, arch, Contracts(target))});
  }
  return images;
}

}  // namespace

void RegisterCuda(const HostHalf& host) {
  static const DeviceKind kind{host::kCudaKind, [](const Target&) -> const ir::KernelDialect& { return ir::CudaCxx(); },
                               CudaImages};
  RegisterDeviceGenerator(kind, host);
}

}  // namespace kernpack::sdk
