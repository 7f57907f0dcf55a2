#include "plan/canonical.h"

#include <algorithm>

namespace kernpack::sdk::program {
namespace {

bool IsPrimitive(const CompilationConfig& config, int32_t device_type) {
  const std::vector<Target>& targets = config.primitive_targets();
  return std::any_of(targets.begin(), targets.end(), [&](const Target& t) { return t.device_type() == device_type; });
}

}  // namespace

bool HasTarget(const CompilationConfig& config, int32_t device_type) {
  return device_type == config.host_target().device_type() || IsPrimitive(config, device_type);
}

VirtualDevice Canonical(CompilationConfig* config, const VirtualDevice& device) {
  const std::optional<int32_t>& type = device.device_type();
  const bool host_alone = type && *type == config->host_target().device_type() && !IsPrimitive(*config, *type);
  if (!host_alone || device.target()) return config->CanonicalVirtualDevice(device);
  VirtualDeviceFields fields = device.fields();
  fields.target = config->host_target();
  return config->CanonicalVirtualDevice(VirtualDevice(std::move(fields)));
}

VirtualDevice WithScope(const VirtualDevice& device, const std::optional<std::string>& scope) {
  if (device.memory_scope() == scope) return device;
  VirtualDeviceFields fields = device.fields();
  fields.memory_scope = scope;
  return VirtualDevice(std::move(fields));
}

VirtualDevice WithoutScope(const VirtualDevice& device) { return WithScope(device, std::nullopt); }

}  // namespace kernpack::sdk::program
