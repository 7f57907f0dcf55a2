#include "target/host.h"

#include <kernpack/error.h>
#include <kernpack/host/target.h>

namespace kernpack::sdk {
namespace {

[[noreturn]] void ThrowRaised() {
  KpAny error = kp_none();
  Host()->take_error(Host(), &error);
  throw Error(reinterpret_cast<KpErrorObject*>(error.v.v_obj));
}

}  // namespace

const KpTargetApi& TargetApi() {
  static const KpTargetApi* const api = [] {
    const void* table = nullptr;
    Check(Host()->get_extension(Host(), kp_bytes("kernpack.target"), 1, &table));
    if (!table) KP_THROW(ImportError) << "this libkernpack has no target services; upgrade: pip install -U kernpack";
    return static_cast<const KpTargetApi*>(table);
  }();
  return *api;
}

void Check(int rc) {
  if (rc != 0) ThrowRaised();
}

std::string HostValue::str() const {
  KpBytes text{};
  return kp_any_str(&value_, &text) ? std::string(text.data, text.size) : std::string();
}

int32_t DeviceTypeFromName(const std::string& name) {
  KpDLDevice device{};
  Check(TargetApi().device_from_name(host::Bytes(name), &device));
  return device.device_type;
}

std::string DeviceTypeName(int32_t device_type) { return TargetApi().device_type_name(device_type); }

}  // namespace kernpack::sdk
