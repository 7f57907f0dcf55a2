// Lists the contents of storage, and drops them by device.
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "base/guard.h"
#include "devices/call/context.h"
#include "devices/storage/table.h"
#include "values/tensor/dltensor.h"
#include "devices/workspace/workspace.h"

namespace kernpack::host {
namespace {

constexpr const char* kScopes[] = {"process", "device", "stream"};

struct Usage {
  uint64_t keys = 0;
  uint64_t bytes = 0;
  uint64_t workspaces = 0;
  uint64_t workspace_bytes = 0;
};
using UsageKey = std::tuple<std::string, uint32_t, std::string>;  // module, scope, device or ""

std::string DeviceName(KpDLDevice device) { return device.device_type == 0 ? std::string() : DeviceText(device); }

UsageKey MakeUsageKey(const KeyView& key) { return {std::string(key.module), key.scope, DeviceName(key.device)}; }

// Of what the value itself holds; what a container's items hold is not counted.
uint64_t CountBytes(const KpAny& value) {
  if (value.type_index == KP_TYPE_TENSOR) return static_cast<uint64_t>(NumBytes(*kp_any_tensor(&value)));
  KpBytes text{};
  if (kp_any_str(&value, &text)) return text.size;
  if (value.type_index == KP_TYPE_BYTES) return reinterpret_cast<const KpStrObject*>(value.v.v_obj)->bytes.size;
  return sizeof(KpAny);
}

int WriteStats(KpAny* out) {
  std::map<UsageKey, Usage> usage;
  StorageTable::Get().ForEach([&](const KeyView& key, const KpAny& value) {
    Usage& group = usage[MakeUsageKey(key)];
    ++group.keys;
    group.bytes += CountBytes(value);
  });
  ForEachWorkspace([&](const KeyView& key, uint64_t bytes) {
    Usage& group = usage[MakeUsageKey(key)];
    ++group.workspaces;
    group.workspace_bytes += bytes;
  });
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& [key, group] : usage) {
    const auto& [module, scope, device] = key;
    nlohmann::ordered_json row;
    row["module"] = module;
    row["scope"] = kScopes[scope];
    row["device"] = device.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(device);
    row["keys"] = group.keys;
    row["bytes"] = group.bytes;
    row["workspaces"] = group.workspaces;
    row["workspace_bytes"] = group.workspace_bytes;
    rows.push_back(std::move(row));
  }
  // Keys are bytes of the module's choosing: bytes that aren't UTF-8 are replaced, not refused.
  return kp_string_new(Bytes(rows.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)), out);
}

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

int kp_storage_stats(KpAny* out) {
  return Guard("kp_storage_stats", [&] { return WriteStats(out); });
}

int kp_storage_reset_device(KpDLDevice device) {
  return Guard("kp_storage_reset_device", [&] {
    StorageTable::Get().EraseIf(
        [&](const KeyView& key) { return key.scope != KP_SCOPE_PROCESS && SameDevice(key.device, device); });
    DropWorkspaces([&](const KeyView& key) { return SameDevice(key.device, device); });
    return 0;
  });
}
