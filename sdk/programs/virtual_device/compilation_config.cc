#include <kernpack/sdk/compilation_config.h>

#include <kernpack/error.h>

#include <algorithm>
#include <set>

#include "target/host.h"
#include "target/suggest.h"

namespace kernpack::sdk {
namespace {

bool IsExternal(const Target& target) { return target.kind().GetAttr<bool>("is_external_codegen").value_or(false); }

Target GetHost(const std::vector<Target>& targets) {
  if (targets.empty()) KP_THROW(ValueError) << "CompilationConfig: expected at least one target";
  for (const Target& target : targets) {
    if (const auto host = target.host()) return host->WithoutHost();
  }
  for (const Target& target : targets) {
    if (target.device_type() == KP_DEVICE_CPU && !IsExternal(target)) return target.WithoutHost();
  }
  return Target("llvm");
}

std::vector<Target> WithHost(const std::vector<Target>& targets, const Target& host) {
  std::vector<Target> out;
  out.reserve(targets.size());
  for (const Target& target : targets) out.push_back(target.WithHost(host));
  return out;
}

void CheckKinds(const std::vector<Target>& targets) {
  std::set<std::string> kinds;
  std::map<int32_t, const Target*> first_of_type;
  for (const Target& target : targets) {
    if (!kinds.insert(target.kind().name()).second) {
      KP_THROW(ValueError) << "CompilationConfig: two targets are of kind '" << target.kind().name()
                           << "'; give one of each kind";
    }
    const auto [first, added] = first_of_type.emplace(target.device_type(), &target);
    if (added || IsExternalCodegenFor(target, *first->second)) continue;
    KP_THROW(ValueError) << "CompilationConfig: '" << first->second->kind().name() << "' and '" << target.kind().name()
                         << "' are both for " << DeviceTypeName(target.device_type())
                         << "; the second may only be an external code generator for the first";
  }
}

int32_t DefaultType(const std::vector<Target>& targets, const std::optional<int32_t>& wanted) {
  if (wanted) return *wanted;
  const int32_t first = targets[0].device_type();
  const bool only =
      std::all_of(targets.begin(), targets.end(), [&](const Target& t) { return t.device_type() == first; });
  return only ? first : static_cast<int32_t>(KP_DEVICE_CPU);
}

}  // namespace

bool IsExternalCodegenFor(const Target& external, const Target& target) {
  return external.device_type() == target.device_type() && IsExternal(external) && !IsExternal(target);
}

CompilationConfig::CompilationConfig(const std::vector<Target>& targets, std::optional<int32_t> default_device_type)
    : host_target_(GetHost(targets)) {
  CheckKinds(targets);
  primitive_targets_ = WithHost(targets, host_target_);
  default_device_type_ = DefaultType(primitive_targets_, default_device_type);
  host_virtual_device_ = cache_.Make({host_target_.device_type(), 0, host_target_, std::nullopt});
  default_virtual_device_ = CanonicalVirtualDevice(VirtualDevice::ForDeviceType(default_device_type_, 0));
}

std::optional<Target> CompilationConfig::optional_homogeneous_target() const {
  if (primitive_targets_.size() != 1) return std::nullopt;
  return primitive_targets_[0];
}

const Target& CompilationConfig::FindPrimitiveTargetForDeviceType(int32_t device_type) const {
  for (const Target& target : primitive_targets_) {
    if (target.device_type() == device_type) return target;
  }
  std::string list;
  for (const Target& target : primitive_targets_) {
    list += (list.empty() ? "" : ", ") + DeviceTypeName(target.device_type()) + " (" + target.kind().name() + ")";
  }
  KP_THROW(ValueError) << "CompilationConfig: no target is for device type " << DeviceTypeName(device_type)
                       << "; there are targets for: " << list;
}

std::optional<Target> CompilationConfig::FindPrimitiveTargetForKind(std::string_view kind) const {
  for (const Target& target : primitive_targets_) {
    if (target.kind().name() == kind) return target;
  }
  return std::nullopt;
}

Target CompilationConfig::CanonicalTarget(const Target& target) const {
  if (target == host_target_) return host_target_;
  for (const Target& known : primitive_targets_) {
    if (target == known) return known;
  }
  if (target.host()) return target;
  const Target hosted = target.WithHost(host_target_);
  for (const Target& known : primitive_targets_) {
    if (hosted == known) return known;
  }
  return target;
}

VirtualDevice CompilationConfig::CanonicalVirtualDevice(const VirtualDevice& value) {
  VirtualDeviceFields fields = value.fields();
  if (fields.target) {
    fields.target = CanonicalTarget(*fields.target);
  } else if (fields.device_type) {
    fields.target = FindPrimitiveTargetForDeviceType(*fields.device_type);
  }
  return cache_.Make(std::move(fields));
}

}  // namespace kernpack::sdk
