// The contents of the pools of workspaces, for people.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <kernpack/host/device.h>

#include "shared/bytes.h"
#include "base/guard.h"
#include "devices/call/context.h"
#include "devices/pool.h"

namespace kernpack::host {
namespace {

struct Row {
  PoolUsage usage;
  uint64_t pools;
};

// Threads of the CPU have a pool each; people ask about the device.
std::vector<Row> Collect() {
  std::vector<Row> rows;
  ForEachPool([&](const PoolUsage& usage) {
    for (Row& row : rows) {
      if (row.usage.stream != usage.stream || !SameDevice(row.usage.device, usage.device)) continue;
      ++row.pools;
      row.usage.held += usage.held;
      row.usage.in_use += usage.in_use;
      row.usage.high_water += usage.high_water;
      row.usage.allocations += usage.allocations;
      row.usage.reused += usage.reused;
      return;
    }
    rows.push_back({usage, 1});
  });
  return rows;
}

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

int kp_workspace_stats(KpAny* out) {
  return Guard("kp_workspace_stats", [&] {
    *out = kp_none();
    auto list = nlohmann::ordered_json::array();
    for (const auto& [usage, pools] : Collect()) {
      const std::string type = kp_device_type_name(usage.device.device_type);
      list.push_back({{"device", type + ":" + std::to_string(usage.device.device_id)},
                      {"stream", reinterpret_cast<uintptr_t>(usage.stream)},
                      {"pools", pools},
                      {"held", usage.held},
                      {"in_use", usage.in_use},
                      {"high_water", usage.high_water},
                      {"allocations", usage.allocations},
                      {"reused", usage.reused}});
    }
    return kp_string_new(Bytes(list.dump()), out);
  });
}
