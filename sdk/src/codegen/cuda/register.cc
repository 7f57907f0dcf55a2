#include "codegen/cuda/register.h"

#include <kernpack/sdk/codegen/generator.h>

#include "codegen/compile_source.h"
#include "codegen/cuda/dialect.h"
#include "codegen/cuda/nvrtc.h"
#include "codegen/device/module.h"

namespace kernpack::sdk {
namespace {

// Machine code for what is common, and PTX that the driver compiles for everything from compute capability 8.0 up.
constexpr const char* kUsual[] = {"sm_80", "sm_90", "sm_100", "compute_80"};

// The one that the target names; else the usual ones that this compiler knows.
std::vector<std::string> ArchsOf(const Target& target, const Nvrtc& nvrtc) {
  if (const std::string arch = target.GetAttr<std::string>("arch", ""); !arch.empty()) return {arch};
  std::vector<std::string> archs;
  for (const char* arch : kUsual) {
    if (nvrtc.Knows(arch)) archs.push_back(arch);
  }
  return archs;
}

SourceFile CudaSource(const ir::IRModule& module, const Target& target) {
  ir::DeviceModule made(module, ir::CudaCxx());
  const Nvrtc& nvrtc = Nvrtc::Get();
  std::vector<ir::DeviceImage> images;
  for (const std::string& arch : ArchsOf(target, nvrtc)) {
    const bool ptx = arch.rfind("compute_", 0) == 0;
    images.push_back({"cuda -arch=" + arch, ptx ? "ptx" : "cubin",
                      nvrtc.Compile(made.program(), module.name, arch, Contracts(target))});
  }
  return {"cuda", SourceFile::kCxx17, made.HostSource(images)};
}

}  // namespace

void RegisterCuda() {
  RegisterGenerator("cuda", {[](const ir::IRModule& module, const Target& target) {
                               return Generated{LoadSource(CudaSource(module, target), target, module.name), {}};
                             },
                             [](const ir::IRModule& module, const Target& target, const std::string& path) {
                               ExportSource(CudaSource(module, target), target, path);
                             },
                             [](const ir::IRModule& module, const Target&) {
                               return ir::DeviceModule(module, ir::CudaCxx()).program();
                             }});
}

}  // namespace kernpack::sdk
