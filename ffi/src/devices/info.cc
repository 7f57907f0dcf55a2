// The list of backends with their devices, or the reason why a backend has none, for people.
#include <nlohmann/json.hpp>
#include <string>

#include <kernpack/host/device.h>

#include "shared/bytes.h"
#include "base/guard.h"
#include "devices/registry.h"
#include "values/object/object.h"

namespace kernpack::host {
namespace {

using Json = nlohmann::ordered_json;

Json OrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json GetKinds(const KpBackend& backend) {
  Json kinds = Json::array();
  for (const char* const* kind = backend.target_kinds; kind != nullptr && *kind != nullptr; ++kind) {
    kinds.push_back(*kind);
  }
  return kinds;
}

Json Describe(Backend* backend, bool open) {
  std::string failure;
  if (open && OpenBackend(backend) != 0) {
    OwnedAny error;
    kp_error_take("kp_backend_info", -1, error.out());
    failure = View(reinterpret_cast<const KpErrorObject*>(error.get().v.v_obj)->message);
  }
  const int state = backend->state.load(std::memory_order_acquire);
  const bool opened = state == Backend::kOpen;
  const bool unavailable = state == Backend::kUnavailable;
  Json row;
  row["name"] = backend->definition->name;
  row["path"] = OrNull(backend->path);
  row["target_kinds"] = GetKinds(*backend->definition);
  row["state"] = opened ? "open" : unavailable ? "unavailable" : failure.empty() ? "closed" : "failed";
  row["devices"] = opened ? Json(backend->api.count) : unavailable ? Json(0) : Json(nullptr);
  row["reason"] = OrNull(unavailable ? backend->reason : failure);
  return row;
}

int WriteInfo(bool open, KpAny* out) {
  DiscoverPlugins();
  Json rows = Json::array();
  for (Backend* backend : AllBackends()) rows.push_back(Describe(backend, open));
  for (const FailedPlugin& plugin : FailedPlugins()) {
    rows.push_back({{"name", nullptr},
                    {"path", plugin.path},
                    {"target_kinds", Json::array()},
                    {"state", "failed"},
                    {"devices", nullptr},
                    {"reason", plugin.reason}});
  }
  return kp_string_new(Bytes(rows.dump(-1, ' ', false, Json::error_handler_t::replace)), out);
}

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

int kp_backend_info(int32_t open, KpAny* out) {
  return Guard("kp_backend_info", [&] {
    *out = kp_none();
    return WriteInfo(open != 0, out);
  });
}

int kp_backend_names(KpAny* out) {
  return Guard("kp_backend_names", [&] {
    *out = kp_none();
    DiscoverPlugins();
    std::vector<std::string> names;
    for (const Backend* backend : AllBackends()) names.emplace_back(backend->definition->name);
    return NewStringArray(names, out);
  });
}
