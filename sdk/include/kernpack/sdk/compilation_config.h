// The targets of one compilation: for the host's code and for each device's, and the defaults for open parts.
#ifndef KERNPACK_SDK_COMPILATION_CONFIG_H_
#define KERNPACK_SDK_COMPILATION_CONFIG_H_

#include <kernpack/sdk/virtual_device.h>

namespace kernpack::sdk {

// Made from the targets that a user gives:
//   host         the host of the first target that has one; else the first target for the CPU; else llvm. It has no host
//                itself.
//   primitives   every target given, with that host, whatever host it named.
//   default      the device type for values without one: default_device_type; else the only target's; else the CPU.
// ValueError: no target; two of one kind; two for one device type (except external code generators of the first, see below); a
// default device type without a target.
//
// Use it in one thread at a time: canonicalising fills a cache.
class CompilationConfig {
 public:
  explicit CompilationConfig(const std::vector<Target>& targets,
                             std::optional<int32_t> default_device_type = std::nullopt);

  const Target& host_target() const { return host_target_; }
  // The host's device type, id 0, its target.
  const VirtualDevice& host_virtual_device() const { return host_virtual_device_; }
  const std::vector<Target>& primitive_targets() const { return primitive_targets_; }
  int32_t default_primitive_device_type() const { return default_device_type_; }
  // That type, id 0, its target.
  const VirtualDevice& default_primitive_virtual_device() const { return default_virtual_device_; }
  // The only target, if there is exactly one.
  std::optional<Target> optional_homogeneous_target() const;

  // The first target for that device type. ValueError that lists the device types with a target.
  const Target& FindPrimitiveTargetForDeviceType(int32_t device_type) const;
  std::optional<Target> FindPrimitiveTargetForKind(std::string_view kind) const;

  // The host or primitive target that `target` equals; else, if it has no host, the one that equals it with this host; else
  // itself.
  Target CanonicalTarget(const Target& target) const;
  // The value with its canonical target, or, if it has a device type and no target, the primitive target of that type. Equal
  // results are one object (SameAs). ValueError if that type has no target.
  VirtualDevice CanonicalVirtualDevice(const VirtualDevice& value);

 private:
  std::vector<Target> primitive_targets_;
  Target host_target_;
  int32_t default_device_type_;
  VirtualDeviceCache cache_;
  VirtualDevice host_virtual_device_;
  VirtualDevice default_virtual_device_;
};

// True if `external`, whose kind has the attribute "is_external_codegen" (set_attr<bool>), generates code for part of
// `target`'s programs: same device type, and another kind without that attribute.
bool IsExternalCodegenFor(const Target& external, const Target& target);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILATION_CONFIG_H_
