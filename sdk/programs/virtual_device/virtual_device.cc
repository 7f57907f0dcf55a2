#include <kernpack/sdk/virtual_device.h>

#include <kernpack/error.h>

#include "target/host.h"
#include "target/suggest.h"

namespace kernpack::sdk {
namespace {

std::shared_ptr<const VirtualDeviceFields> Checked(VirtualDeviceFields fields) {
  if (fields.memory_scope && fields.memory_scope->empty()) fields.memory_scope.reset();
  if (fields.virtual_device_id && *fields.virtual_device_id < 0) {
    KP_THROW(ValueError) << "VirtualDevice: expected a virtual_device_id of 0 or above, got "
                         << *fields.virtual_device_id << "; omit it to leave it open";
  }
  if (fields.device_type && *fields.device_type <= 0) {
    KP_THROW(ValueError) << "VirtualDevice: expected a device_type above 0, got " << *fields.device_type
                         << "; omit it to leave it open";
  }
  if (fields.target) {
    const int32_t type = fields.target->device_type();
    if (fields.device_type && *fields.device_type != type) {
      KP_THROW(ValueError) << "VirtualDevice: target " << Quoted(fields.target->str()) << " is for "
                           << DeviceTypeName(type) << ", but device_type is " << DeviceTypeName(*fields.device_type);
    }
    fields.device_type = type;
  }
  return std::make_shared<const VirtualDeviceFields>(std::move(fields));
}

// False when both are constrained, and differently.
template <class T>
bool JoinPart(const std::optional<T>& a, const std::optional<T>& b, std::optional<T>* out) {
  *out = a ? a : b;
  return !a || !b || *a == *b;
}

}  // namespace

VirtualDevice::VirtualDevice() {
  static const auto& open = *new std::shared_ptr<const VirtualDeviceFields>(new VirtualDeviceFields);
  node_ = open;
}

VirtualDevice::VirtualDevice(VirtualDeviceFields fields) : node_(Checked(std::move(fields))) {}

VirtualDevice VirtualDevice::ForDeviceType(int32_t device_type, std::optional<int32_t> virtual_device_id) {
  return VirtualDevice({device_type, virtual_device_id, std::nullopt, std::nullopt});
}
VirtualDevice VirtualDevice::ForDevice(KpDLDevice device) {
  return VirtualDevice({device.device_type, device.device_id, std::nullopt, std::nullopt});
}
VirtualDevice VirtualDevice::ForTarget(const Target& target) {
  return VirtualDevice({std::nullopt, std::nullopt, target, std::nullopt});
}
VirtualDevice VirtualDevice::ForDeviceAndTarget(KpDLDevice device, const Target& target) {
  return VirtualDevice({device.device_type, device.device_id, target, std::nullopt});
}
VirtualDevice VirtualDevice::ForMemoryScope(std::string memory_scope) {
  return VirtualDevice({std::nullopt, std::nullopt, std::nullopt, std::move(memory_scope)});
}
VirtualDevice VirtualDevice::ForDeviceTargetAndMemoryScope(KpDLDevice device, const Target& target,
                                                           std::string memory_scope) {
  return VirtualDevice({device.device_type, device.device_id, target, std::move(memory_scope)});
}

bool VirtualDevice::IsFullyConstrained() const { return target() && virtual_device_id() && memory_scope(); }

KpDLDevice VirtualDevice::ToDevice() const {
  if (!device_type() || !virtual_device_id()) {
    KP_THROW(ValueError) << str() << " names no device: its " << (device_type() ? "virtual_device_id" : "device_type")
                         << " is open";
  }
  return {*device_type(), *virtual_device_id()};
}

std::optional<VirtualDevice> VirtualDevice::Join(const VirtualDevice& a, const VirtualDevice& b) {
  if (a.node_ == b.node_) return a;
  VirtualDeviceFields out;
  const bool agree = JoinPart(a.device_type(), b.device_type(), &out.device_type) &&
                     JoinPart(a.virtual_device_id(), b.virtual_device_id(), &out.virtual_device_id) &&
                     JoinPart(a.target(), b.target(), &out.target) &&
                     JoinPart(a.memory_scope(), b.memory_scope(), &out.memory_scope);
  if (!agree) return std::nullopt;
  return VirtualDevice(std::move(out));
}

VirtualDevice VirtualDevice::Default(const VirtualDevice& a, const VirtualDevice& b) {
  VirtualDeviceFields out;
  out.device_type = a.device_type() ? a.device_type() : b.device_type();
  out.virtual_device_id = a.virtual_device_id() ? a.virtual_device_id() : b.virtual_device_id();
  out.target = a.target();
  if (!out.target && b.target() && b.device_type() == out.device_type) out.target = b.target();
  out.memory_scope = a.memory_scope() ? a.memory_scope() : b.memory_scope();
  return VirtualDevice(std::move(out));
}

std::string VirtualDevice::str() const {
  std::string parts;
  const auto add = [&](const char* name, const std::string& value) {
    parts += (parts.empty() ? "" : ", ") + std::string(name) + "=" + value;
  };
  if (device_type()) add("device_type", "'" + DeviceTypeName(*device_type()) + "'");
  if (virtual_device_id()) add("virtual_device_id", std::to_string(*virtual_device_id()));
  if (target()) add("target", Literal(target()->str()));
  if (memory_scope()) add("memory_scope", Literal(*memory_scope()));
  return "VirtualDevice(" + parts + ")";
}

size_t VirtualDevice::Hash() const { return std::hash<std::string>()(str()); }

}  // namespace kernpack::sdk
