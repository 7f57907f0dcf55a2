#include "codegen/device/host_half.h"

#include <kernpack/error.h>

#include <algorithm>
#include <numeric>

#include "ir/launch_limits.h"

namespace kernpack::sdk {
namespace {

// Threads of a block of a parallel loop: two warps, where the target has such. An OpenCL device may as well be a processor, which
// runs work-groups in parallel: there each iteration is one.
int64_t BlockWidth(const Target& target) {
  const auto warp = target.GetAttr<int64_t>("thread_warp_size", 1);
  const int64_t limit = ir::GetLimits(target).threads;
  return warp <= 1 ? 1 : std::min(2 * warp, limit > 0 ? limit : 2 * warp);
}

ir::DeviceModule MakeDeviceModule(const DeviceKind& kind, const ir::IRModule& module, const Target& target) {
  return {module, kind.dialect(target), BlockWidth(target)};
}

ir::CompiledDevice GetCode(const DeviceKind& kind, const ir::DeviceModule& module, const Target& target) {
  CheckDeviceFunctions(module.module());
  return {kind.name, target.device_type(), module, kind.images(module, target)};
}

}  // namespace

std::vector<size_t> ir::CompiledDevice::GetVariants(const FuncNode& f) const {
  if (const auto found = variants.find(f.name); found != variants.end()) return found->second;
  std::vector<size_t> all(images.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

void CheckDeviceFunctions(const ir::IRModule& module) {
  const auto& functions = module.functions;
  if (std::all_of(functions.begin(), functions.end(), [](const ir::PrimFunc& f) { return f->is_private; })) {
    KP_THROW(ValueError) << "module '" << module.name << "' has no function that is not private";
  }
  for (const ir::PrimFunc& f : functions) {
    const auto has_tensor = [](const ir::FuncNode& g) {
      return std::any_of(g.params.begin(), g.params.end(), [](const ir::Param& p) { return p.buffer != nullptr; });
    };
    if (f->is_private || has_tensor(*f)) continue;
    KP_THROW(ValueError) << f->name << ": a function of a device needs a tensor parameter, which determines the device";
  }
}

void RegisterDeviceGenerator(const DeviceKind& kind, const HostHalf& host) {
  const auto build = [&kind, &host](const ir::IRModule& input, const Target& target) {
    const ir::DeviceModule module = MakeDeviceModule(kind, input, target);
    return host.build(GetCode(kind, module, target), target);
  };
  const auto write = [&kind, &host](const ir::IRModule& input, const Target& target, const std::string& path) {
    const ir::DeviceModule module = MakeDeviceModule(kind, input, target);
    host.export_library(GetCode(kind, module, target), target, path);
  };
  const auto source = [&kind](const ir::IRModule& input, const Target& target) {
    return MakeDeviceModule(kind, input, target).program();
  };
  RegisterGenerator(kind.name, {build, write, source});
}

}  // namespace kernpack::sdk
