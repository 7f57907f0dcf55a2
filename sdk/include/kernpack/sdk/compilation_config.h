// The targets of one compilation: which compiles the host's code, which each device's, and what an open part means.
#ifndef KERNPACK_SDK_COMPILATION_CONFIG_H_
#define KERNPACK_SDK_COMPILATION_CONFIG_H_

#include <kernpack/sdk/virtual_device.h>

namespace kernpack::sdk {

// From the targets a user gives:
//   host         the host of the first target that has one; else the first target for the CPU; else llvm. Its own host is left
//                out.
//   primitives   every target given, with that host, whatever host it named.
//   default      where nothing says otherwise: the device type asked for; else the only one there is; else the CPU.
// ValueError: no target; two of one kind; two for one device type (but for external code generators of the first, see below); a
// default device type that no target is for.
//
// Not for several threads at a time: canonicalising fills a cache.
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
  // The only target, when there is one.
  std::optional<Target> optional_homogeneous_target() const;

  // The first for that device type. ValueError that lists those there are.
  const Target& FindPrimitiveTargetForDeviceType(int32_t device_type) const;
  std::optional<Target> FindPrimitiveTargetForKind(std::string_view kind) const;

  // The host or primitive target that `target` equals; else, where it names no host, the one that equals it with ours; else
  // itself.
  Target CanonicalTarget(const Target& target) const;
  // With the canonical target, or, where it has a device type and no target, the primitive target of that type. Equal results
  // are one object (SameAs). ValueError when no target is for that type.
  VirtualDevice CanonicalVirtualDevice(const VirtualDevice& value);

 private:
  std::vector<Target> primitive_targets_;
  Target host_target_;
  int32_t default_device_type_;
  VirtualDeviceCache cache_;
  VirtualDevice host_virtual_device_;
  VirtualDevice default_virtual_device_;
};

// Whether `external`, whose kind has the attribute "is_external_codegen" (set_attr<bool>), generates code for part of what
// `target` would: same device type, another kind that has no such attribute.
bool IsExternalCodegenFor(const Target& external, const Target& target);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILATION_CONFIG_H_
