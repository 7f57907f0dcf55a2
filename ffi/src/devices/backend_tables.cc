// The table of a backend by name: "device_api.<name>" among the global functions, and among the extensions for kernels.
#include <kernpack/host/device.h>

#include "shared/bytes.h"
#include "devices/names.h"
#include "devices/registry.h"
#include "values/object/object.h"

namespace kernpack::host {
namespace {

constexpr uint32_t kExtensionVersion = 1;  // KP_DEVICE_ABI_MAJOR

int GiveTable(void* self, const KpAny*, int32_t num_args, KpAny* result) noexcept {
  const auto* backend = static_cast<const Backend*>(self);
  if (num_args != 0) {
    return kp_raise("TypeError", "device_api.%s: expected no arguments, got %d", backend->definition->name, num_args);
  }
  const KpDeviceApi* api = nullptr;
  if (kp_device_api(backend->type, &api) != 0) return -1;
  result->type_index = KP_TYPE_OPAQUE_PTR;
  result->v.v_ptr = const_cast<KpDeviceApi*>(api);
  return 0;
}

}  // namespace

int DeviceApiFunction(std::string_view name, KpAny* out) {
  if (!name.starts_with(kDeviceApiPrefix)) return 0;
  Backend* backend = FindBackend(name.substr(kDeviceApiPrefix.size()));
  return backend != nullptr ? kp_function_new(backend, GiveTable, nullptr, out) : 0;
}

int DeviceApiExtension(std::string_view name, uint32_t version, const void** out) {
  const std::string_view type = name.substr(kDeviceApiPrefix.size());
  const Backend* backend = FindBackend(type);
  if (backend == nullptr) {
    return kp_raise("RuntimeError", "get_extension: no backend named '%.*s' is registered", PrintLength(type),
                    type.data());
  }
  if (version != kExtensionVersion) {
    return kp_raise("ValueError", "get_extension: '%.*s': expected version %u, got %u", PrintLength(name), name.data(),
                    kExtensionVersion, version);
  }
  *out = DeviceApi(backend->type);
  return *out != nullptr ? 0 : -1;
}

}  // namespace kernpack::host
