// Devices as embedders ask for them.
#include <string>

#include <kernpack/host/device.h>

#include "shared/bytes.h"
#include "base/guard.h"
#include "devices/registry.h"

namespace kernpack::host {
namespace {

int RaiseNoBackend(int32_t device_type) {
  if (const char* why = WhyNeverHere(device_type)) {
    return kp_raise("RuntimeError", "no device of type %s can be used: %s", kp_device_type_name(device_type), why);
  }
  std::string names;
  for (const Backend* backend : AllBackends()) {
    names += (names.empty() ? "" : ", ");
    names += backend->definition->name;
  }
  std::string failed;
  for (const FailedPlugin& plugin : FailedPlugins()) failed += "; " + plugin.reason;
  return kp_raise("RuntimeError", "device type %s: no backend is registered (there are: %s)%s",
                  kp_device_type_name(device_type), names.c_str(), failed.c_str());
}

}  // namespace

const KpDeviceApi* DeviceApi(int32_t device_type) {
  Backend* backend = FindBackend(device_type);
  if (backend == nullptr) {
    RaiseNoBackend(device_type);
    return nullptr;
  }
  if (OpenBackend(backend) != 0) return nullptr;
  if (backend->state.load(std::memory_order_acquire) == Backend::kOpen) return &backend->api.table;
  kp_raise("RuntimeError", "no device of type %s can be used: %s", backend->definition->name, backend->reason.c_str());
  return nullptr;
}

}  // namespace kernpack::host

using namespace kernpack::host;

int kp_device_count(int32_t device_type, int32_t* out, KpAny* reason) {
  return Guard("kp_device_count", [&] {
    *out = 0;
    if (reason != nullptr) *reason = kp_none();
    std::string why;
    if (Backend* backend = FindBackend(device_type)) {
      if (OpenBackend(backend) != 0) return -1;
      if (backend->state.load(std::memory_order_acquire) == Backend::kOpen) {
        *out = backend->api.count;
        return 0;
      }
      why = backend->reason;
    } else if (const char* never = WhyNeverHere(device_type)) {
      why = never;
    } else {
      why = std::string("no backend for device type ") + kp_device_type_name(device_type) + " is registered";
    }
    return reason != nullptr ? kp_string_new(Bytes(why), reason) : 0;
  });
}

int kp_device_api(int32_t device_type, const KpDeviceApi** out) {
  return Guard("kp_device_api", [&] {
    *out = DeviceApi(device_type);
    return *out != nullptr ? 0 : -1;
  });
}

int kp_device_get_attr(KpDLDevice device, int32_t kind, KpAny* out) {
  return Guard("kp_device_get_attr", [&] {
    *out = kp_none();
    if (kind != KP_ATTR_EXIST) {
      const KpDeviceApi* api = DeviceApi(device.device_type);
      return api != nullptr ? api->get_attr(api, device, kind, out) : -1;
    }
    int32_t count = 0;
    if (kp_device_count(device.device_type, &count, nullptr) != 0) kp_error_clear();
    out->type_index = KP_TYPE_BOOL;
    out->v.v_int = device.device_id >= 0 && device.device_id < count;
    return 0;
  });
}

int kp_device_get_property(KpDLDevice device, KpBytes name, KpAny* out) {
  return Guard("kp_device_get_property", [&] {
    *out = kp_none();
    const KpDeviceApi* api = DeviceApi(device.device_type);
    return api != nullptr ? api->get_property(api, device, name, out) : -1;
  });
}
