#include "devices/target/match_device.h"

#include <kernpack/host/device.h>

#include "shared/bytes.h"
#include "devices/forward.h"
#include "values/object/object.h"

namespace kernpack::host {
namespace {

std::optional<std::string> FromExtension(KpDLDevice device) {
  const void* table = nullptr;
  if (kp_host()->get_extension(kp_host(), kp_bytes("kernpack.device_arch"), 1, &table) != 0) {
    kp_error_clear();
    return std::nullopt;
  }
  const auto* extension = static_cast<const KpDeviceArchExtension*>(table);
  char text[64] = {};
  if (!extension || !KP_HAS_FIELD(KpDeviceArchExtension, extension, name) ||
      extension->name(device, text, sizeof text - 1) != 0)
    return std::nullopt;
  return text;
}

// The table of a device that exists; NULL otherwise, with no error raised.
const KpDeviceApi* GetTable(KpDLDevice device) {
  OwnedAny exists;
  const KpDeviceApi* api = nullptr;
  if (kp_device_get_attr(device, KP_ATTR_EXIST, exists.out()) == 0 && exists.get().v.v_int != 0 &&
      kp_device_api(device.device_type, &api) == 0) {
    return api;
  }
  kp_error_clear();
  return nullptr;
}

std::optional<std::string> Text(const KpAny& value) {
  KpBytes text{};
  if (!kp_any_str(&value, &text)) return std::nullopt;
  return std::string(View(text));
}

}  // namespace

std::optional<std::string> DeviceArch(KpDLDevice device) {
  if (auto arch = FromExtension(device)) return arch;
  const KpDeviceApi* api = GetTable(device);
  if (api == nullptr) return std::nullopt;
  OwnedAny arch;
  if (api->get_property(api, device, kp_bytes("arch"), arch.out()) != 0) kp_error_clear();
  return Text(arch.get());
}

std::optional<TargetMatch> AskBackend(std::string_view target, KpDLDevice device) {
  const KpDeviceApi* api = GetTable(device);
  // DLPack's types have rules of their own in target_match.cc, which their backends need not repeat.
  if (api == nullptr || (Forwarding(api).inner->match_target == nullptr && Forwarding(api).backend->device_type != 0)) {
    return std::nullopt;
  }
  TargetMatch match{-1, {}};
  OwnedAny reason;
  if (api->match_target(api, device, Bytes(target), &match.rank, reason.out()) != 0) {
    kp_error_clear();
    return std::nullopt;
  }
  match.reason = Text(reason.get()).value_or("its backend gives no reason");
  return match;
}

}  // namespace kernpack::host
