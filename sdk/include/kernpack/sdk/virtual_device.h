// Compile-time constraints on where data is or code runs; each part may be open.
#ifndef KERNPACK_SDK_VIRTUAL_DEVICE_H_
#define KERNPACK_SDK_VIRTUAL_DEVICE_H_

#include <kernpack/sdk/target.h>

#include <unordered_set>

namespace kernpack::sdk {

struct VirtualDeviceFields {
  std::optional<int32_t> device_type;        // a KpDeviceType, or one that the host assigned
  std::optional<int32_t> virtual_device_id;  // which of several; 0 is an id like any other
  std::optional<Target> target;              // how to compile for it
  std::optional<std::string> memory_scope;   // which of its memories; "" is the same as nullopt

  bool operator==(const VirtualDeviceFields&) const = default;
};

// Four parts, each a value or unconstrained. With a target, the device type is the target's; no other part is
// ever filled in. Immutable, cheap to copy, any thread.
//
// Virtual ids number the devices of a plan, not of the machine; they are mapped when the plan is run.
class VirtualDevice {
 public:
  VirtualDevice();  // fully unconstrained
  // ValueError if the device type is not the target's or not above 0, or the id is below 0.
  explicit VirtualDevice(VirtualDeviceFields fields);

  static VirtualDevice FullyUnconstrained() { return VirtualDevice(); }
  static VirtualDevice ForDeviceType(int32_t device_type, std::optional<int32_t> virtual_device_id = std::nullopt);
  static VirtualDevice ForDevice(KpDLDevice device);
  static VirtualDevice ForTarget(const Target& target);
  static VirtualDevice ForDeviceAndTarget(KpDLDevice device, const Target& target);
  static VirtualDevice ForMemoryScope(std::string memory_scope);
  static VirtualDevice ForDeviceTargetAndMemoryScope(KpDLDevice device, const Target& target, std::string memory_scope);

  const std::optional<int32_t>& device_type() const { return node_->device_type; }
  const std::optional<int32_t>& virtual_device_id() const { return node_->virtual_device_id; }
  const std::optional<Target>& target() const { return node_->target; }
  const std::optional<std::string>& memory_scope() const { return node_->memory_scope; }
  const VirtualDeviceFields& fields() const { return *node_; }

  bool IsFullyUnconstrained() const { return *node_ == VirtualDeviceFields(); }
  bool IsFullyConstrained() const;  // id, target (hence type) and scope
  // Type and id as a device. ValueError if one is open.
  KpDLDevice ToDevice() const;

  // The least constrained value that agrees with both: a part that is open on one side comes from the other. nullopt
  // if both constrain a part differently; targets are the same if their canonical forms are. Commutative, associative
  // where defined, idempotent; the unconstrained value is its identity.
  static std::optional<VirtualDevice> Join(const VirtualDevice& a, const VirtualDevice& b);
  // a, with b's values for the open parts of a; b's target only if it fits the resulting device type. Always defined.
  static VirtualDevice Default(const VirtualDevice& a, const VirtualDevice& b);

  // "VirtualDevice(device_type='cuda', virtual_device_id=3, memory_scope='global')"; "VirtualDevice()" if all parts are open.
  std::string str() const;
  bool operator==(const VirtualDevice& other) const { return node_ == other.node_ || *node_ == *other.node_; }
  size_t Hash() const;
  // True if both are the same object. A VirtualDeviceCache makes equal values one object.
  bool SameAs(const VirtualDevice& other) const { return node_ == other.node_; }

 private:
  std::shared_ptr<const VirtualDeviceFields> node_;
};

}  // namespace kernpack::sdk

template <>
struct std::hash<kernpack::sdk::VirtualDevice> {
  size_t operator()(const kernpack::sdk::VirtualDevice& value) const { return value.Hash(); }
};

namespace kernpack::sdk {

// Makes equal values one object, so that SameAs is the same as ==. Use it in one thread at a time.
class VirtualDeviceCache {
 public:
  VirtualDevice Unique(const VirtualDevice& value) { return *values_.insert(value).first; }
  VirtualDevice Make(VirtualDeviceFields fields) { return Unique(VirtualDevice(std::move(fields))); }
  size_t size() const { return values_.size(); }

 private:
  std::unordered_set<VirtualDevice> values_;
};

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_VIRTUAL_DEVICE_H_
